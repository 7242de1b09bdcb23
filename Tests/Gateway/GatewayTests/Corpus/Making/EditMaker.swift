import MergeCore
import Operations
import TestSupport

/// Makes edits as clients send them: from copies that may be stale, in both forms, of rows old and new.
struct EditMaker {
    let notebook: ClientCopies
    let client: Int
    /// The temporary ids that the push has made, by resource.
    private(set) var temporaries: [String: [String]] = [:]
    private var count = 0

    /// An edit without its braces.
    struct Edit {
        let resource: String
        let id: String?
        let changeset: String

        /// - Parameter named: includes the resource.
        func text(named: Bool) -> String {
            (named ? #""resource":"\#(resource)","# : "") + (id.map { #""id":\#($0),"# } ?? "")
                + #""changeset":{\#(changeset)}"#
        }
    }

    init(notebook: ClientCopies, client: Int) {
        self.notebook = notebook
        self.client = client
    }

    mutating func edit(_ resource: ResourceShape, _ dice: inout Dice) -> Edit {
        let copies = notebook.copies(client, resource.name)
        if copies.isEmpty || dice.chance(14) { return creation(resource, &dice) }
        let alive = copies.filter { !$0.isGone }
        let copy = dice.pick(alive.isEmpty || dice.chance(10) ? copies : alive)
        return Edit(
            resource: resource.name, id: dice.chance(2) ? "7777" : copy.id,
            changeset: change(resource, copy, &dice).joined(separator: ","))
    }

    // MARK: Records that are there

    private mutating func change(
        _ resource: ResourceShape, _ copy: ClientCopies.Copy, _ dice: inout Dice
    ) -> [String] {
        var parts: [String] = []
        if dice.chance(70) || resource.sections.count == 1 {
            let section = resource.root
            if let row = copy.record[section.name] { parts.append(name(section, member(section, row, &dice))) }
        }
        for section in resource.sections.dropFirst() where dice.chance(38) {
            guard let held = copy.record[section.name] else { continue }
            if section.kind == "list" {
                parts.append(
                    name(section, "[" + items(section, held.array, copy.id, &dice).joined(separator: ",") + "]"))
            } else if held.isNull {
                parts.append(name(section, #"{"old":null,"new":\#(newRow(section, &dice))}"#))
            } else {
                parts.append(name(section, member(section, held, &dice)))
            }
        }
        return dice.chance(20) ? dice.shuffled(parts) : parts
    }

    private func name(_ section: SectionShape, _ value: String) -> String { "\"\(section.name)\":\(value)" }

    /// Members of a section, or of an item after its id.
    private mutating func member(_ section: SectionShape, _ row: JSON, _ dice: inout Dice) -> String {
        switch dice.number(1...100) {
        case ...9: return #"{"old":\#(deleted(section, row, &dice)),"new":null}"#
        case ...22: return rowForm(section, row, &dice)
        default:
            let count = dice.pick([1, 1, 1, 2, 2, 3])
            let groups = dice.shuffled(section.groups).prefix(count)
            return "{" + groups.map { group($0, row, &dice) }.joined(separator: ",") + "}"
        }
    }

    private func deleted(_ section: SectionShape, _ row: JSON, _ dice: inout Dice) -> String {
        let groups = dice.some(section.groups, 60)
        return object(groups.flatMap(\.fields).map { ($0.name, row[$0.name]?.description ?? "null") })
    }

    private func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private mutating func rowForm(_ section: SectionShape, _ row: JSON, _ dice: inout Dice) -> String {
        var groups = dice.some(section.groups, 60)
        if groups.isEmpty { groups = section.groups }
        var old: [(name: String, value: String)] = []
        var new: [(name: String, value: String)] = []
        for group in groups {
            let isChanged = dice.chance(45)
            for field in group.fields {
                let held = row[field.name]?.description ?? "null"
                old.append((field.name, held))
                new.append((field.name, isChanged ? value(field, group, row[field.name], &dice) : held))
            }
        }
        if let name = section.readOnly.first, dice.chance(30), let held = row[name]?.description {
            old.append((name, held))
            new.append((name, dice.chance(85) ? held : "1"))
        }
        return #"{"old":\#(object(old)),"new":\#(object(new))}"#
    }

    private mutating func group(_ group: GroupShape, _ row: JSON, _ dice: inout Dice) -> String {
        let held = side(group) { row[$0.name]?.description ?? "null" }
        let new = side(group) { value($0, group, row[$0.name], &dice) }
        let members =
            switch dice.number(1...100) {
            case ...10: #""old":\#(held),"new":\#(held)"#
            case ...18: #""old":\#(side(group) { value($0, group, row[$0.name], &dice) }),"new":\#(new)"#
            case ...23: #""old":\#(new),"new":\#(held)"#
            case ...31: #""oldHash":"sha256:\#(Hex.encode(AccessToken.hash(canonical(held))))","new":\#(new)"#
            default: #""old":\#(held),"new":\#(new)"#
            }
        return "\"\(group.name)\":{\(members)}"
    }

    /// The members of objects in the order of their names.
    private func canonical(_ text: String) -> String { (try? JSON(text).description) ?? text }

    private func side(_ group: GroupShape, _ value: (FieldShape) -> String) -> String {
        if let only = group.fields.first, group.fields.count == 1 { return value(only) }
        return object(group.fields.map { ($0.name, value($0)) })
    }

    private func value(_ field: FieldShape, _ group: GroupShape, _ base: JSON?, _ dice: inout Dice) -> String {
        ValueMaker.value(field, merge: group.merge, base: base, ids: { known($0) }, &dice)
    }

    /// The ids that a field may refer to: existing rows, and rows that the push creates.
    private func known(_ resource: String) -> [String] {
        notebook.copies(client, resource).map(\.id) + (temporaries[resource] ?? [])
            + (temporaries[resource] ?? [])
    }

    // MARK: Items

    private mutating func items(
        _ section: SectionShape, _ rows: [JSON], _ record: String, _ dice: inout Dice
    ) -> [String] {
        var items: [String] = []
        for row in dice.shuffled(rows).prefix(dice.pick([0, 1, 1, 2])) {
            let body = member(section, row, &dice).dropFirst()
            items.append(#"{"id":\#(row["id"]?.description ?? "null"),"# + body)
        }
        for _ in 0..<dice.pick([0, 0, 1, 1, 2]) { items.append(newItem(section, record, &dice)) }
        if dice.chance(4) {
            items.append(#"{"id":\#(key(section, record, &dice)),"old":{},"new":null}"#)
        }
        return items
    }

    private mutating func newItem(_ section: SectionShape, _ record: String, _ dice: inout Dice) -> String {
        let id: String? = section.isNumbered ? newID(section, resource: "", &dice) : key(section, record, &dice)
        return "{" + (id.map { #""id":\#($0),"# } ?? "") + #""old":null,"new":\#(newRow(section, &dice))}"#
    }

    private func newRow(_ section: SectionShape, _ dice: inout Dice) -> String {
        var members: [(name: String, value: String)] = []
        for group in section.groups where dice.chance(75) {
            for field in group.fields { members.append((field.name, value(field, group, nil, &dice))) }
        }
        return object(members)
    }

    // MARK: Records that are new

    private mutating func creation(_ resource: ResourceShape, _ dice: inout Dice) -> Edit {
        let root = resource.root
        let id: String? = root.isNumbered ? newID(root, resource: resource.name, &dice) : key(root, nil, &dice)
        var parts = [name(root, #"{"old":null,"new":\#(newRow(root, &dice))}"#)]
        for section in resource.sections.dropFirst() where dice.chance(35) {
            if section.kind == "list" {
                let items = (0..<dice.pick([1, 1, 2])).map { _ in newItem(section, id ?? "0", &dice) }
                parts.append(name(section, "[" + items.joined(separator: ",") + "]"))
            } else {
                parts.append(name(section, #"{"old":null,"new":\#(newRow(section, &dice))}"#))
            }
        }
        return Edit(resource: resource.name, id: id, changeset: parts.joined(separator: ","))
    }

    /// - Returns: an id of a row that the database numbers; nil to omit it.
    private mutating func newID(_ section: SectionShape, resource: String, _ dice: inout Dice) -> String? {
        count += 1
        switch dice.number(1...100) {
        case ...20: return nil
        case ...65:
            let id = "\"tmp:\(section.name)\(count)\""
            if !resource.isEmpty { temporaries[resource, default: []].append(id) }
            return id
        case ...90:
            if !resource.isEmpty { temporaries[resource, default: []].append("-\(10 + count)") }
            return "-\(10 + count)"
        default: return String(dice.pick([1, 2, 3, 500 + dice.number(0...20)]))
        }
    }

    /// - Returns: a key chosen by the client. The parts of its record are first.
    private func key(_ section: SectionShape, _ record: String?, _ dice: inout Dice) -> String {
        let parts = section.key.map { column in
            column.type == "text"
                ? JSON(
                    text: dice.pick(["A-1", "A-2", "B-7", "a,b", "50%", "x y", "N", "chess", "tea", "blue", "Blue"])
                ).description
                : String(dice.pick([1, 2, 3, 4, 5, 11, 12, 21, 30, 31, 40, 41, 42]))
        }
        if parts.count == 1 { return parts[0] }
        let above = record.map { (try? JSON($0)).map { $0.array.isEmpty ? [$0] : $0.array } ?? [] } ?? []
        let own = above.prefix(parts.count - 1).map(\.description)
        return "[" + (own + parts.dropFirst(own.count)).joined(separator: ",") + "]"
    }
}
