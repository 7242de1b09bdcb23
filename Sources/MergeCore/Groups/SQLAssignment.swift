/// A column and the operator's SQL for what it is set to.
package struct SQLAssignment: Sendable, Hashable {
    package let column: String
    package let sql: String

    package init(column: String, sql: String) {
        self.column = column
        self.sql = sql
    }
}
