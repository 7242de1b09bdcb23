import MergeCore
import RecordStore

/// Writes a rule file from the drafts of its sections.
struct RuleFileText {
    private(set) var text = ""

    /// The longest mapping that is written on one line.
    private static let width = 100

    init(resource: String, sections: [SectionDraft]) {
        line(
            0, content: "",
            comment:
                "Rules to start from, made of the schema alone. Look over what is proposed and guessed, above all the")
        line(
            0, content: "", comment: "groups: columns that mean something only together belong into one, and no others."
        )
        if sections.count > 1 {
            line(0, content: "", comment: "Deleting a record deletes its rows in all these sections.")
        }
        line(0, content: "resource: " + YAMLText.scalar(resource))
        if sections.contains(where: { !$0.table.schema.isTransactional }) {
            line(
                0, content: "",
                comment: "A table here knows no transactions: a crash in the middle of a push leaves it half done.")
            line(0, content: "non-transactional: allow")
        }
        line(0, content: "sections:")
        for section in sections { write(section) }
    }

    private mutating func write(_ section: SectionDraft) {
        line(1, content: YAMLText.scalar(section.name) + ":")
        if let link = section.link, link.isGuess {
            line(
                2, content: "",
                comment: "A guess from the names of the columns: the database has no foreign key here. Where it is")
            line(2, content: "", comment: "wrong, give the table a file of its own, without “list” and “parent”.")
        }
        if let link = section.link, !link.isSingleton { line(2, content: "list: true") }
        line(2, content: "table: " + YAMLText.scalar(section.table.name.name))
        line(2, content: "key: " + YAMLText.names(section.table.key))
        for comment in section.keyComments { line(2, content: "", comment: comment) }
        if let link = section.link {
            let pairs = link.columns.map { YAMLText.scalar($0.own) + ": " + YAMLText.scalar($0.root) }
            line(2, content: "parent: {" + pairs.joined(separator: ", ") + "}")
        }
        if !section.groups.isEmpty {
            line(2, content: "groups:")
            for group in section.groups { write(group) }
        }
        if !section.readOnly.isEmpty {
            line(2, content: "read-only:")
            for field in section.readOnly { line(3, content: Self.mapping(field), comment: field.comment) }
        }
        for (column, reason) in section.leftOut { line(2, content: "", comment: "left out: “\(column)”: \(reason)") }
    }

    private mutating func write(_ group: SectionDraft.DraftGroup) {
        guard let reason = group.reason else {
            for field in group.fields { line(3, content: Self.mapping(field), comment: field.comment) }
            return
        }
        line(3, content: "", comment: "proposed as one: \(reason)")
        line(3, content: YAMLText.scalar(group.name) + ":")
        let fields = "fields: {" + group.fields.map(Self.mapping).joined(separator: ", ") + "}"
        if fields.count <= Self.width, group.fields.allSatisfy({ $0.comment == nil }) {
            line(4, content: fields)
            return
        }
        line(4, content: "fields:")
        for field in group.fields { line(5, content: Self.mapping(field), comment: field.comment) }
    }

    /// `name: column`, or with what there is to say of the column.
    private static func mapping(_ field: SectionDraft.DraftField) -> String {
        let name = YAMLText.scalar(field.name) + ": "
        guard field.type != nil || field.references != nil else { return name + YAMLText.scalar(field.column) }
        var parts = ["column: " + YAMLText.scalar(field.column)]
        if let type = field.type { parts.append("type: " + type) }
        if let resource = field.references { parts.append("references: " + YAMLText.scalar(resource)) }
        return name + "{" + parts.joined(separator: ", ") + "}"
    }

    private mutating func line(_ depth: Int, content: String, comment: String? = nil) {
        text += String(repeating: "  ", count: depth) + content
        if let comment { text += (content.isEmpty ? "" : " ") + YAMLText.comment(comment) }
        text += "\n"
    }
}
