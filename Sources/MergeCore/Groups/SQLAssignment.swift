/// A column and the operator's SQL for its new value.
package struct SQLAssignment: Sendable, Hashable {
    /// The name of the column.
    package let column: String
    /// The operator's SQL for the value.
    package let sql: String

    /// Assigns to a column.
    package init(column: String, sql: String) {
        self.column = column
        self.sql = sql
    }
}
