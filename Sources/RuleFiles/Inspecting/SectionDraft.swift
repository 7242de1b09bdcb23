import MergeCore
import RecordStore

/// A section before it is written down.
struct SectionDraft {
    struct DraftField {
        let name: String
        let column: String
        var type: String?
        var references: String?
        var comment: String?
    }

    struct DraftGroup {
        let name: String
        let fields: [DraftField]
        /// The reason for which several columns were put together.
        let reason: String?
    }

    let name: String
    let table: InspectedTable
    /// The columns by which the rows belong to a record; nil in a root.
    let link: TableLink?
    private(set) var groups: [DraftGroup] = []
    private(set) var readOnly: [DraftField] = []
    private(set) var leftOut: [(column: String, reason: String)] = []
    /// Comments on what the columns of the key refer to.
    private(set) var keyComments: [String] = []

    init(_ table: InspectedTable, link: TableLink?, in placement: Placement) {
        name = placement[table.name]?.section ?? table.name.name
        self.table = table
        self.link = link
        let parents = link?.columns.map(\.own) ?? []
        var names = ClientNames()
        var writable: [ColumnSchema] = []
        var stamps: [(column: ColumnSchema, reason: String)] = []
        for column in table.schema.columns {
            switch ColumnRole(column, key: table.key, parents: parents) {
            case .implied:
                if !parents.contains(column.name),
                    let reference = ColumnReference(column, in: table, placement), reference.named == nil
                {
                    keyComments.append("“\(column.name)” \(reference.comment)")
                }
            case .writable: writable.append(column)
            case .readOnly(let reason): stamps.append((column, reason))
            case .leftOut(let reason): leftOut.append((column.name, reason))
            }
        }
        addGroups(writable, in: placement, naming: &names)
        for (column, reason) in stamps {
            readOnly.append(
                DraftField(
                    name: names.take(column.name), column: column.name, type: Self.type(column), comment: reason))
        }
    }

    /// Each writable column in one group, in the order of the table.
    private mutating func addGroups(
        _ columns: [ColumnSchema], in placement: Placement, naming names: inout ClientNames
    ) {
        let proposals = GroupProposal(columns, in: table.schema).groups
        // Fields first: what a group of several is called matters less.
        var fields: [String: DraftField] = [:]
        for column in columns {
            let reference = ColumnReference(column, in: table, placement)
            fields[column.name] = DraftField(
                name: names.take(column.name), column: column.name, type: Self.type(column),
                references: reference?.named,
                comment: reference?.comment ?? (Self.isSecret(column) ? "a secret? then leave it out" : nil))
        }
        for column in columns {
            guard let field = fields[column.name] else { continue }
            guard let proposal = proposals.first(where: { $0.columns.contains(column.name) }) else {
                groups.append(DraftGroup(name: field.name, fields: [field], reason: nil))
                continue
            }
            let members = columns.filter { proposal.columns.contains($0.name) }
            guard members.first?.name == column.name else { continue }
            groups.append(
                DraftGroup(
                    name: names.takeGroup(words: proposal.words),
                    fields: members.compactMap { fields[$0.name] }, reason: proposal.reason))
        }
    }

    private static let secrets: Set<String> = ["password", "passwd", "passwort", "pwd", "secret", "salt", "pin"]

    /// Returns true where clients had better not see the column, by its name.
    private static func isSecret(_ column: ColumnSchema) -> Bool {
        NameWords(column.name).words.contains(where: secrets.contains)
    }

    /// A TINYINT(1) is what programs keep truth values in.
    private static func type(_ column: ColumnSchema) -> String? {
        column.declaredType.lowercased().hasPrefix("tinyint(1)") && column.types.first != .boolean
            && column.types.contains(.boolean) ? "boolean" : nil
    }
}
