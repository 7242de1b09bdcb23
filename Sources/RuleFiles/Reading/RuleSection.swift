import MergeCore

struct RuleSection: Sendable, Hashable {
    let name: Placed<String>
    let isList: Bool
    private(set) var table: Placed<String>?
    private(set) var schema: Placed<String>?
    let key: [Placed<String>]
    let parent: [RuleLink]
    let order: [Placed<String>]
    let groups: [RuleGroup]
    let readOnly: [RuleField]
    let lookups: [RuleLookup]
    let onConflict: Placed<ConflictPolicy>?
    let onMissing: Placed<MissingPolicy>?
    let onDeleteConflict: Placed<DeleteConflictPolicy>?
    let identity: [Placed<String>]
    let visibility: Placed<String>?
    let softDelete: RuleDelete?
    let checks: [RuleCheck]
    /// The operator's SQL for frozen rows.
    let frozenWhen: Placed<String>?
    /// The location of `client-keys`, or nil if clients may not choose keys that the database numbers.
    let clientKeys: Placed<Permission>?
    /// The location of `number`, or nil if clients or the database number new rows.
    let number: Placed<KeyNumbering>?
    /// The columns that every insertion and update sets.
    let stamps: [RuleStamp]
    /// The columns that a deletion keeps besides those of the rules.
    let undoColumns: UndoColumns?

    var tableName: TableName? { table.map { TableName(schema: schema?.value, name: $0.value) } }

    /// Returns the section with the table's name in the database instead of the spelling in the rule file.
    func resolved(by names: [TableName: TableName]) -> RuleSection {
        guard let table, let stored = tableName.flatMap({ names[$0] }) else { return self }
        var section = self
        section.table = Placed(value: stored.name, place: table.place)
        section.schema = stored.schema.map { Placed(value: $0, place: self.schema?.place ?? table.place) }
        return section
    }
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
