import MergeCore

struct RuleSection: Sendable, Hashable {
    let name: Placed<String>
    let isList: Bool
    let table: Placed<String>?
    let schema: Placed<String>?
    let key: [Placed<String>]
    let parent: [RuleLink]
    let order: [Placed<String>]
    let groups: [RuleGroup]
    let readOnly: [RuleField]
    let onConflict: Placed<ConflictPolicy>?
    let onMissing: Placed<MissingPolicy>?
    let onDeleteConflict: Placed<DeleteConflictPolicy>?
    let identity: [Placed<String>]
    let visibility: Placed<String>?
    let softDelete: RuleDelete?
    let checks: [RuleCheck]
    /// The operator's SQL that tells the rows which are written no more.
    let frozenWhen: Placed<String>?
    /// The place at which the rules let clients choose keys that the database numbers; nil where they do not.
    let clientKeys: Placed<Permission>?
    /// The columns that a deletion keeps besides those that the rules name.
    let undoColumns: UndoColumns?

    var tableName: TableName? { table.map { TableName(schema: schema?.value, name: $0.value) } }
}

extension RuleSection {
    var operatorSQL: [(what: String, sql: Placed<String>)] {
        var all: [(what: String, sql: Placed<String>)] = []
        if let visibility { all.append(("“where”", visibility)) }
        if let frozenWhen { all.append(("“frozen-when”", frozenWhen)) }
        for check in checks { all.append(("check “\(check.name.value)”", check.sql)) }
        for assignment in softDelete?.assignments ?? [] {
            all.append(("“delete.set.\(assignment.column.value)”", assignment.sql))
        }
        return all
    }
}
