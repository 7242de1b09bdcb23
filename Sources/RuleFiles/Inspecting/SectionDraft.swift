import MergeCore
import RecordStore

/// A section before it is written as text.
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
        /// The reason for a group of several columns.
        let reason: String?
    }

    let name: String
    let table: InspectedTable
    /// The columns that link the rows to a record, or nil in a root.
    let link: TableLink?
    private(set) var groups: [DraftGroup] = []
    private(set) var readOnly: [DraftField] = []
    private(set) var leftOut: [(column: String, reason: String)] = []
    /// Comments about references of key columns.
    private(set) var keyComments: [String] = []

    /// The last key column, if the gateway could number new rows.
    let number: String?

    /// Creates a draft, with columns whose names suggest secrets only if requested.
    init(_ table: InspectedTable, link: TableLink?, in placement: Placement, takesSecrets: Bool) {
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
            case .writable:
                if !takesSecrets, SecretWords.name(column) {
                    leftOut.append((column.name, Self.secret(column, what: "a secret")))
                } else if !takesSecrets, PaymentWords.name(column) {
                    leftOut.append((column.name, Self.secret(column, what: "payment data")))
                } else {
                    writable.append(column)
                }
            case .readOnly(let reason): stamps.append((column, reason))
            case .leftOut(let reason): leftOut.append((column.name, reason))
            }
        }
        number = Self.number(of: table, parents: parents)
        addGroups(writable, in: placement, naming: &names)
        for (column, reason) in stamps {
            readOnly.append(
                DraftField(
                    name: names.take(column.name), column: column.name, type: Self.type(column), comment: reason))
        }
    }

    /// Adds each writable column to one group, in the order of the table.
    private mutating func addGroups(
        _ columns: [ColumnSchema], in placement: Placement, naming names: inout ClientNames
    ) {
        let proposals = GroupProposal(columns, in: table.schema).groups
        // Fields get their names first, because a group's name matters less.
        var fields: [String: DraftField] = [:]
        for column in columns {
            let reference = ColumnReference(column, in: table, placement)
            fields[column.name] = DraftField(
                name: names.take(column.name), column: column.name, type: Self.type(column),
                references: reference?.named,
                comment: reference?.comment ?? Self.question(column, proposals: proposals)
                    ?? ColumnHints.hint(of: column, isItem: link.map { !$0.isSingleton } ?? false))
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

    /// Returns the last key column if the gateway could number new rows.
    private static func number(of table: InspectedTable, parents: [String]) -> String? {
        guard table.key.count > 1, let name = table.key.last, let column = table.schema.column(name),
            case .integer = column.types.first, !column.isAutoIncrement, column.serverOwned == nil,
            !parents.contains(name), !table.schema.foreignKeys.contains(where: { $0.columns.contains(name) })
        else { return nil }
        return name
    }

    /// Returns a question about a column that may belong to an adjacent group.
    private static func question(_ column: ColumnSchema, proposals: [ProposedGroup]) -> String? {
        guard let group = proposals.first(where: { $0.doubtful.contains(column.name) }),
            !proposals.contains(where: { $0.columns.contains(column.name) })
        else { return nil }
        return "a part of the \(group.words.joined(separator: " ")) beside it? then put it there"
    }

    private static func secret(_ column: ColumnSchema, what: String) -> String {
        let reason = "\(what), by its name; --secrets takes it in"
        return column.isNullable || column.hasDefault
            ? reason : reason + "; it is NOT NULL without a default, so no client can create a row"
    }

    /// Returns `boolean` for a TINYINT(1), which programs use for Booleans.
    private static func type(_ column: ColumnSchema) -> String? {
        column.declaredType.lowercased().hasPrefix("tinyint(1)") && column.types.first != .boolean
            && column.types.contains(.boolean) ? "boolean" : nil
    }
}
