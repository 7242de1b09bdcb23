/// A condition on the rows of a section after a merge, which the database evaluates.
package struct RowCheck: Sendable, Hashable {
    /// The name that clients see.
    package let name: String
    /// The operator's SQL over the row's columns.
    package let sql: String
    /// Positions in the section's `fields`, for messages and for groups that are reverted.
    package let fields: [Int]
    /// The policy if the check fails.
    package let onFailure: CheckFailurePolicy
    /// The line of the rule file.
    package let rule: RuleReference

    /// Creates a check.
    package init(name: String, sql: String, fields: [Int], onFailure: CheckFailurePolicy, rule: RuleReference) {
        self.name = name
        self.sql = sql
        self.fields = fields
        self.onFailure = onFailure
        self.rule = rule
    }
}
