import MergeCore
import Operations
import TestSupport

/// Makes edits of one record in each form of the protocol.
struct EditForms {
    struct Form {
        let label: String
        let changeset: String
    }

    let resource: ResourceShape
    /// The record as it was read.
    let record: JSON
    /// The known ids of a resource, for references.
    let known: @Sendable (String) -> [String]

    /// - Returns: the forms of all sections, some groups of each.
    func all(_ dice: inout Dice) -> [Form] {
        var forms: [Form] = []
        for section in resource.sections {
            guard let held = record[section.name] else { continue }
            if section.kind == "list" {
                forms += items(section, held.array, &dice)
            } else if held.isNull {
                forms.append(form("a row where none is", section, #"{"old":null,"new":\#(row(section, nil, &dice))}"#))
                forms.append(form("a row that is not there", section, #"{"old":{},"new":null}"#))
            } else {
                forms += members(section, held, &dice).map { form($0.label, section, "{\($0.changeset)}") }
            }
        }
        return forms
    }

    private func form(_ label: String, _ section: SectionShape, _ value: String) -> Form {
        Form(label: label, changeset: #""\#(section.name)":\#(value)"#)
    }

    private func items(_ section: SectionShape, _ rows: [JSON], _ dice: inout Dice) -> [Form] {
        var forms: [Form] = []
        for row in rows.prefix(2) {
            let id = row["id"]?.description ?? "null"
            forms += members(section, row, &dice).map {
                form("item " + $0.label, section, #"[{"id":\#(id),\#($0.changeset)}]"#)
            }
        }
        let all = rows.map { #"{"id":\#($0["id"]?.description ?? "null"),"old":{},"new":null}"# }
        forms.append(form("all items deleted", section, "[\(all.joined(separator: ","))]"))
        for id in [#""tmp:i""#, "-5", "60"] {
            let new = #"{"id":\#(id),"old":null,"new":\#(row(section, nil, &dice))}"#
            forms.append(form("a new item", section, "[\(new)]"))
        }
        if let first = rows.first {
            let again = #"{"old":null,"new":\#(row(section, first, &dice))}"#
            forms.append(form("an item once more", section, "[\(again)]"))
        }
        return forms
    }

    /// The members of one row, in each form.
    private func members(_ section: SectionShape, _ held: JSON, _ dice: inout Dice) -> [Form] {
        let groups = Array(dice.shuffled(section.groups).prefix(4))
        return groups.flatMap { Array(dice.shuffled(self.forms($0, held, &dice)).prefix(4)) }
            + rowForms(section, held, &dice)
    }

    private func forms(_ group: GroupShape, _ held: JSON, _ dice: inout Dice) -> [Form] {
        let base = side(group) { text(held[$0.name]) }
        let stale = side(group) { value($0, group, held, &dice) }
        let new = side(group) { value($0, group, held, &dice) }
        let none = side(group) { _ in "null" }
        let sides: [(label: String, members: String)] = [
            ("of what stands", #""old":\#(base),"new":\#(new)"#),
            ("of what stood", #""old":\#(stale),"new":\#(new)"#),
            ("of a hash", #""oldHash":"\#(hash(base))","new":\#(new)"#),
            ("of an old hash", #""oldHash":"\#(hash(stale))","new":\#(new)"#),
            ("of nothing", #""old":\#(none),"new":\#(new)"#),
            ("to nothing", #""old":\#(base),"new":\#(none)"#),
            ("as it was", #""old":\#(base),"new":\#(base)"#),
            ("back", #""old":\#(stale),"new":\#(base)"#),
            ("to what stood", #""old":\#(stale),"new":\#(stale)"#),
        ]
        return sides.map { Form(label: $0.label, changeset: #""\#(group.name)":{\#($0.members)}"#) }
    }

    private func rowForms(_ section: SectionShape, _ held: JSON, _ dice: inout Dice) -> [Form] {
        let whole = row(section, held, &dice, changing: 0)
        let changed = row(section, held, &dice, changing: 40)
        let stale = row(section, held, &dice, changing: 30)
        let sides: [(label: String, old: String, new: String)] = [
            ("a whole row", whole, changed), ("a whole row of what stood", stale, changed),
            ("a whole row as it was", whole, whole), ("a row that is there", "null", changed),
            ("deleted", whole, "null"), ("deleted of what stood", stale, "null"), ("deleted blindly", "{}", "null"),
        ]
        return sides.map { Form(label: $0.label, changeset: #""old":\#($0.old),"new":\#($0.new)"#) }
    }

    // MARK: Values

    /// - Parameter changing: how many groups of a hundred have other values than the current row.
    /// - Returns: a row of all groups. Without a current row it has new values only.
    func row(_ section: SectionShape, _ held: JSON?, _ dice: inout Dice, changing: Int = 0) -> String {
        var members: [String] = []
        for group in section.groups {
            let isChanged = held == nil || dice.chance(changing)
            for field in group.fields {
                let value = isChanged ? value(field, group, held, &dice) : text(held?[field.name])
                members.append("\"\(field.name)\":\(value)")
            }
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private func value(_ field: FieldShape, _ group: GroupShape, _ held: JSON?, _ dice: inout Dice) -> String {
        ValueMaker.value(field, merge: group.merge, base: held?[field.name], ids: known, &dice)
    }

    private func side(_ group: GroupShape, _ value: (FieldShape) -> String) -> String {
        if let only = group.fields.first, group.fields.count == 1 { return value(only) }
        return "{" + group.fields.map { "\"\($0.name)\":\(value($0))" }.joined(separator: ",") + "}"
    }

    private func text(_ value: JSON?) -> String { value?.description ?? "null" }

    private func hash(_ text: String) -> String {
        "sha256:" + Hex.encode(AccessToken.hash((try? JSON(text).description) ?? text))
    }
}
