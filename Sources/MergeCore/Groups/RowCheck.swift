/// A condition that the rows of a section have to meet after a merge, evaluated by the database.
package struct RowCheck: Sendable, Hashable {
    /// The name that clients are told.
    package let name: String
    /// The operator's own SQL over the row's columns.
    package let sql: String
    /// Positions in the section's `fields`, for messages and for what is taken back.
    package let fields: [Int]
    /// The policy where it fails.
    package let onFailure: CheckFailurePolicy
    /// The line that wrote it.
    package let rule: RuleReference

    /// Makes a check of the operator's SQL.
    package init(name: String, sql: String, fields: [Int], onFailure: CheckFailurePolicy, rule: RuleReference) {
        self.name = name
        self.sql = sql
        self.fields = fields
        self.onFailure = onFailure
        self.rule = rule
    }
}
