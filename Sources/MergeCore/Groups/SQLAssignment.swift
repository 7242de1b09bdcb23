/// A column and the operator's SQL for what it is set to.
package struct SQLAssignment: Sendable, Hashable {
    /// The name of the column.
    package let column: String
    /// The operator's own SQL for its value.
    package let sql: String

    /// Assigns to a column by its name.
    package init(column: String, sql: String) {
        self.column = column
        self.sql = sql
    }
}
