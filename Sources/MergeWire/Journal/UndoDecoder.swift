package import MergeCore

/// Creates the edit that undoes a journal entry, or that merges it again.
///
/// The base of an undo is the written value, and its edited value is the earlier one. A repeated merge is the reverse.
package struct UndoDecoder {
    /// The direction in which an entry is read.
    package enum Direction: Sendable {
        /// Undoes the entry.
        case back
        /// Merges the entry again.
        case forward
    }

    private let direction: Direction
    private let resource: Resource
    /// Returns the writable columns of a table.
    private let columns: (TableName) -> [Column]
    /// The groups to undo as `section.group`, or nil for all.
    private let groups: Set<ExactText>?
    /// The positions of the outcomes that were undone before.
    private let taken: Set<Int>

    /// The edit that undoes parts of an entry.
    package struct Opposite: Sendable {
        /// The edit.
        package let edit: Edit

        /// Creates the opposite of an entry.
        package init(edit: Edit) {
            self.edit = edit
        }

        /// The positions of the outcomes that the edit undoes.
        package var outcomes: [Int] { edit.reversals.map(\.outcome) }
    }

    /// Creates a decoder for the entries of one resource.
    package init(
        resource: Resource, groups: Set<ExactText>?, taken: Set<Int>, direction: Direction = .back,
        columns: @escaping (TableName) -> [Column]
    ) {
        self.direction = direction
        self.resource = resource.undoing
        self.groups = groups
        self.taken = taken
        self.columns = columns
    }

    /// Returns the edit for an entry.
    ///
    /// - Throws: a `Problem` if a part cannot be undone, or if nothing is left to undo.
    package func opposite(of entry: [UInt8]) throws(Problem) -> Opposite {
        let made = JSONDocument.stored(entry) { root -> Result<Opposite, Problem> in
            do throws(Problem) {
                return .success(try edit(root))
            } catch {
                return .failure(error)
            }
        }
        guard let made else { throw Self.unreadable("the entry is damaged") }
        return try made.get()
    }

    private func edit(_ root: JSONNode) throws(Problem) -> Opposite {
        guard let id = root["id"].flatMap({ EntryReader.key($0, resource.root) }) else {
            throw Self.unreadable("the record's key is not one of the resource's any more")
        }
        try checkNames(root)
        var rows: [RowEdit] = []
        var reversals: [Reversal] = []
        for (position, outcome) in (root["outcomes"]?.elements ?? []).enumerated() where !taken.contains(position) {
            guard let row = try opposite(outcome, RowID(id)) else { continue }
            rows.append(row)
            guard direction == .back else { continue }
            reversals.append(try reversal(of: position, outcome, by: row))
        }
        guard !rows.isEmpty else {
            throw Problem(
                .nothingToUndo,
                detail:
                    "The entry wrote nothing in the named groups, or it was undone before.",
                retry: .never)
        }
        return Opposite(
            edit: Edit(
                resource: resource, id: RowID(id), rows: merged(rows), path: WirePath(""), reversals: reversals))
    }

    private func reversal(of position: Int, _ outcome: JSONNode, by row: RowEdit) throws(Problem) -> Reversal {
        var returning: [Cascade] = []
        let aim: Reversal.Aim
        switch row.action {
        case .edit(let groups): aim = .group(groups.first?.group ?? 0)
        case .delete: aim = .deletion
        case .create: aim = .insertion
        }
        if aim != .deletion {
            for node in outcome["cascades"]?.elements ?? [] {
                if let cascade = try cascade(node) { returning.append(cascade) }
            }
        }
        let isItem = resource.sections[row.section].kind == .list
        return Reversal(
            outcome: position, section: row.section, item: isItem ? row.id?.key : nil, aim: aim, returning: returning)
    }

    /// Checks that the rules or the entry contain every group to undo.
    ///
    /// - Throws: a 400 `Problem` that explains the names of groups.
    private func checkNames(_ root: JSONNode) throws(Problem) {
        guard let groups else { return }
        let ofRules = resource.sections.flatMap { section in
            [section.name] + section.groups.map { section.name + "." + $0.name }
        }
        let ofEntry = (root["outcomes"]?.elements ?? []).map { outcome in
            let section = outcome["section"]?.string ?? ""
            return outcome["group"]?.string.map { section + "." + $0 } ?? section
        }
        let known = Set((ofRules + ofEntry).map { ExactText($0) })
        guard let unknown = groups.filter({ !known.contains($0) }).min(by: { $0.string < $1.string }) else { return }
        let name = unknown.string
        guard name.utf8.count <= NameIndex.maximumBytes else {
            throw Invalid.tooLong(at: WirePath("groups"), limit: NameIndex.maximumBytes)
        }
        let whole = ofRules.first { $0.hasSuffix("." + name) }
        throw Problem(
            .unknownGroup,
            detail: "“\(name)” is neither SECTION.GROUP nor a section of “\(resource.name)”"
                + (whole.map { "; did you mean “\($0)”?" } ?? NearestName.ending(for: name, among: ofRules)),
            path: WirePath("groups"))
    }

    private static func unreadable(_ why: String) -> Problem {
        Problem(.notUndoable, detail: "\(why).", retry: .never)
    }

    private static let erased = Problem(
        .private, detail: "The values of this entry were erased. Name other groups to undo those.", retry: .never)

    private static func unlogged(_ names: [String]) -> Problem {
        unreadable(
            "the binary log did not contain the values of \(names.map { "“\($0)”" }.joined(separator: ", ")). Name other "
                + "groups to undo those")
    }

    private static func hidden(_ names: [String]) -> Problem {
        Problem(
            .private,
            detail:
                "The values of \(names.map { "“\($0)”" }.joined(separator: ", ")) are not kept, because the rules call "
                + "them private; name the other groups to take those back.",
            retry: .never, fields: names)
    }

    private func opposite(_ outcome: JSONNode, _ record: RowID) throws(Problem) -> RowEdit? {
        guard let word = outcome["outcome"]?.string, let kind = OutcomeKind(rawValue: word) else { return nil }
        switch kind {
        case .unchanged, .already, .rejected, .kept, .missing, .serverWon: return nil
        case .applied, .clientWon, .combined, .inserted, .deleted, .restored: break
        }
        let name = outcome["section"]?.string ?? ""
        let group = outcome["group"]?.string
        if let groups, !groups.contains(ExactText(group.map { name + "." + $0 } ?? name)) { return nil }
        guard let index = resource.section(named: name) else {
            throw Self.unreadable("no section “\(name)” any more")
        }
        if outcome["erased"] != nil { throw Self.erased }
        let section = resource.sections[index]
        let unlogged = outcome["unlogged"]?.elements.compactMap(\.string) ?? []
        // The undo of an insertion needs no value.
        if !unlogged.isEmpty, kind != .inserted || direction == .forward { throw Self.unlogged(unlogged) }
        let hidden = outcome["private"]?.elements.compactMap(\.string) ?? []
        let keepsHidden = kind == .deleted && direction == .back && section.keepsSoftlyDeleted(hidden)
        if !hidden.isEmpty, kind != .inserted || direction == .forward, !keepsHidden { throw Self.hidden(hidden) }
        let item = outcome["id"].flatMap { EntryReader.key($0, section) }
        if section.kind == .list, item == nil { throw Self.unreadable("an item's key cannot be read any more") }
        let id = section.kind == .root ? record : item.map { RowID($0) }
        if let group { return try groupEdit(outcome, of: group, index: index, in: section, id: id) }
        let path = WirePath(name)
        let isInsertion = kind == .inserted || kind == .restored
        switch direction {
        case .back where isInsertion, .forward where !isInsertion:
            let bases = self.bases(outcome[isInsertion ? "written" : "current"], of: section)
            return RowEdit(section: index, id: id, action: .delete(bases), path: path)
        default:
            let held =
                outcome[isInsertion ? "written" : "current"].map {
                    EntryReader.values($0, in: section, hiding: Set(hidden))
                } ?? [:]
            let fields = held.keys.sorted().filter { field in
                held[field].map { section.type(ofField: field).forbidsWriting($0) == nil } ?? false
            }
            let values = FieldValues(fields: fields, values: fields.compactMap { held[$0] })
            return RowEdit(
                section: index, id: id, action: .create(values), path: path,
                extras: outcome["row"].map { EntryReader.raw($0, columns(section.table), lost: hidden) })
        }
    }

    private func groupEdit(
        _ outcome: JSONNode, of name: String, index: Int, in section: Section, id: RowID?
    ) throws(Problem) -> RowEdit {
        guard let group = section.group(named: name) else {
            throw Self.unreadable("section “\(section.name)” has no group “\(name)” any more")
        }
        guard let written = values(outcome["written"], of: group, in: section),
            let before = values(outcome["current"], of: group, in: section)
        else { throw Self.unreadable("the fields of group “\(name)” have changed") }
        let (base, edited) = direction == .back ? (written, before) : (before, written)
        let edit = GroupEdit(
            group: group, base: .values(base), edited: edited, path: WirePath(section.name + "." + name),
            isRowForm: false)
        return RowEdit(section: index, id: id, action: .edit([edit]), path: WirePath(section.name))
    }

    private func values(_ node: JSONNode?, of group: Int, in section: Section) -> FieldValues? {
        guard let node else { return nil }
        let fields = Array(section.groups[group].fields)
        if fields.count == 1, let field = fields.first {
            return EntryReader.value(node, section.columns[section.fields[field].column]).map {
                FieldValues(fields: [field], values: [$0])
            }
        }
        let held = EntryReader.values(node, in: section, hiding: [])
        let values = fields.compactMap { held[$0] }
        return values.count == fields.count ? FieldValues(fields: fields, values: values) : nil
    }

    /// Returns the written groups of a row as bases, so that a row that has changed since is kept.
    private func bases(_ node: JSONNode?, of section: Section) -> [GroupBase] {
        guard let node else { return [] }
        return section.groups.indices.compactMap { group in
            guard section.fields[section.groups[group].fields].allSatisfy({ !$0.isPrivate }) else { return nil }
            let held = EntryReader.values(node, in: section, hiding: [])
            let fields = Array(section.groups[group].fields)
            let values = fields.compactMap { held[$0] }
            guard values.count == fields.count else { return nil }
            return GroupBase(group: group, base: FieldValues(fields: fields, values: values))
        }
    }

    /// Joins the edits of several groups of one row.
    private func merged(_ rows: [RowEdit]) -> [RowEdit] {
        var out: [RowEdit] = []
        for row in rows {
            if case .edit(let groups) = row.action,
                let index = out.firstIndex(where: { $0.section == row.section && $0.id == row.id }),
                case .edit(let earlier) = out[index].action
            {
                out[index] = RowEdit(
                    section: row.section, id: row.id, action: .edit(earlier + groups), path: row.path)
            } else {
                out.append(row)
            }
        }
        return out
    }

    /// Reads a cascade, or returns nil for rows that the database itself changes back.
    private func cascade(_ node: JSONNode) throws(Problem) -> Cascade? {
        let table = TableName(schema: node["schema"]?.string, name: node["table"]?.string ?? "")
        guard let effect = node["effect"]?.string.flatMap({ Cascade.Effect(rawValue: $0) }) else {
            throw Self.unreadable("the entry's changes to rows of table “\(table)” cannot be read")
        }
        if effect == .update { return nil }
        let hidden = node["private"]?.elements.compactMap(\.string) ?? []
        if effect == .delete, !hidden.isEmpty { throw Self.hidden(hidden) }
        let known = columns(table)
        let names = node["columns"]?.elements.compactMap(\.string) ?? []
        let found = names.compactMap { name in known.first { $0.name == name } }
        guard !names.isEmpty, found.count == names.count else {
            throw Self.unreadable("table “\(table)” has changed")
        }
        var rows: [[Value]] = []
        for row in node["rows"]?.elements ?? [] {
            var values: [Value] = []
            for (part, column) in zip(row.elements, found) {
                guard let value = EntryReader.value(part, column) else {
                    throw Self.unreadable("a row of table “\(table)” does not fit any more")
                }
                values.append(value)
            }
            rows.append(values)
        }
        let links = node["links"]?.elements.compactMap { link in
            link.string.flatMap { name in found.firstIndex { $0.name == name } }
        }
        let cascade = Cascade(
            table: table, effect: effect, columns: found, nameCount: Int(clamping: node["named"]?.integer ?? 0),
            links: links ?? [], rows: rows)
        if effect == .setNull, cascade.links.contains(where: { $0 < cascade.nameCount }) {
            throw Self.unreadable(
                "rows of table “\(table)” have no key, and the reference that named them was set to NULL")
        }
        return cascade
    }
}

extension JSONNode {
    fileprivate var integer: Int64? {
        if case .integer(let number) = scalar { number } else { nil }
    }
}

extension Section {
    /// Returns true if a soft deletion leaves the values of private fields in the row.
    fileprivate func keepsSoftlyDeleted(_ fields: [String]) -> Bool {
        guard let set = softDelete?.value else { return false }
        let columns = fields.compactMap { field(named: $0) }.map { self.columns[self.fields[$0].column].name }
        return columns.count == fields.count && !set.contains { columns.contains($0.column) }
    }
}
