/// The policy where a check of the rules fails.
package enum CheckFailurePolicy: String, Sendable, Hashable, CaseIterable {
    /// The whole push is refused.
    case reject
    /// The groups of the check's fields keep what the database holds, and the check runs again.
    case serverWins = "server-wins"
}

/// A condition that the rows of a section have to meet after a merge, evaluated by the database.
package struct RowCheck: Sendable, Hashable {
    package let name: String
    /// The operator's own SQL over the row's columns.
    package let sql: String
    /// Positions in the section's `fields`, for messages and for what is taken back.
    package let fields: [Int]
    package let onFailure: CheckFailurePolicy
    package let rule: RuleReference

    package init(name: String, sql: String, fields: [Int], onFailure: CheckFailurePolicy, rule: RuleReference) {
        self.name = name
        self.sql = sql
        self.fields = fields
        self.onFailure = onFailure
        self.rule = rule
    }
}

/// A column and the operator's SQL for what it is set to.
package struct SQLAssignment: Sendable, Hashable {
    package let column: String
    package let sql: String

    package init(column: String, sql: String) {
        self.column = column
        self.sql = sql
    }
}
