import MergeCore
import RecordStore

/// Writes a rule file from the drafts of its sections.
struct RuleFileText {
    private(set) var text = ""

    /// The maximum length of a mapping on one line.
    private static let width = 100

    init(resource: String, sections: [SectionDraft]) {
        line(
            depth: 0,
            comment:
                "Rules to start from, made of the schema alone. Look over what is proposed and guessed, above all the")
        line(
            depth: 0, comment: "groups: columns that mean something only together belong into one, and no others.")
        if sections.count > 1 {
            line(depth: 0, comment: "Deleting a record deletes its rows in all these sections.")
        }
        line("resource: " + YAMLText.scalar(resource), depth: 0)
        if sections.contains(where: { !$0.table.schema.isTransactional }) {
            line(
                depth: 0,
                comment: "A table here has no transactions: a crash during a push leaves it applied in part.")
            line("non-transactional: allow", depth: 0)
        }
        line("sections:", depth: 0)
        for section in sections { write(section) }
    }

    private mutating func write(_ section: SectionDraft) {
        line(YAMLText.scalar(section.name) + ":", depth: 1)
        if let link = section.link, link.isGuess {
            line(
                depth: 2,
                comment: "A guess from the names of the columns: the database has no foreign key here. Where it is")
            line(depth: 2, comment: "wrong, give the table a file of its own, without “list” and “parent”.")
        }
        if let link = section.link, !link.isSingleton { line("list: true", depth: 2) }
        line("table: " + YAMLText.scalar(section.table.name.name), depth: 2)
        line("key: " + YAMLText.names(section.table.key), depth: 2)
        for comment in section.keyComments { line(depth: 2, comment: comment) }
        if let link = section.link {
            let pairs = link.columns.map { YAMLText.scalar($0.own) + ": " + YAMLText.scalar($0.root) }
            line("parent: {" + pairs.joined(separator: ", ") + "}", depth: 2)
        }
        if let number = section.number {
            line(
                depth: 2,
                comment:
                    "clients number “\(number)” themselves, and two devices choose the same number; with “number: next”"
            )
            line(depth: 2, comment: "the gateway numbers new rows")
        }
        if !section.groups.isEmpty {
            line("groups:", depth: 2)
            for group in section.groups { write(group) }
        }
        if !section.readOnly.isEmpty {
            line("read-only:", depth: 2)
            for field in section.readOnly { line(Self.mapping(field), depth: 3, comment: field.comment) }
        }
        for (column, reason) in section.leftOut { line(depth: 2, comment: "left out: “\(column)”: \(reason)") }
    }

    private mutating func write(_ group: SectionDraft.DraftGroup) {
        guard let reason = group.reason else {
            for field in group.fields { line(Self.mapping(field), depth: 3, comment: field.comment) }
            return
        }
        line(depth: 3, comment: "proposed as one: \(reason)")
        line(YAMLText.scalar(group.name) + ":", depth: 3)
        let fields = "fields: {" + group.fields.map(Self.mapping).joined(separator: ", ") + "}"
        if fields.count <= Self.width, group.fields.allSatisfy({ $0.comment == nil }) {
            line(fields, depth: 4)
            return
        }
        line("fields:", depth: 4)
        for field in group.fields { line(Self.mapping(field), depth: 5, comment: field.comment) }
    }

    /// Returns `name: column`, with type and reference if necessary.
    private static func mapping(_ field: SectionDraft.DraftField) -> String {
        let name = YAMLText.scalar(field.name) + ": "
        guard field.type != nil || field.references != nil else { return name + YAMLText.scalar(field.column) }
        var parts = ["column: " + YAMLText.scalar(field.column)]
        if let type = field.type { parts.append("type: " + type) }
        if let resource = field.references { parts.append("references: " + YAMLText.scalar(resource)) }
        return name + "{" + parts.joined(separator: ", ") + "}"
    }

    private mutating func line(_ content: String = "", depth: Int, comment: String? = nil) {
        text += String(repeating: "  ", count: depth) + content
        if let comment { text += (content.isEmpty ? "" : " ") + YAMLText.comment(comment) }
        text += "\n"
    }
}
