/// Rows that the database itself deleted or changed when a row went, named for those who will miss them.
package struct Cascade: Sendable, Hashable {
    package let table: TableName
    /// `delete` or `set-null`.
    package let effect: String
    /// The columns that name a row: its key, or where it has none the columns that referred to the row that went.
    package let columns: [Column]
    /// Parallel to `columns`.
    package let rows: [[Value]]

    package init(table: TableName, effect: String, columns: [Column], rows: [[Value]]) {
        self.table = table
        self.effect = effect
        self.columns = columns
        self.rows = rows
    }
}
