/// Rows that the database itself deleted or changed when a row went, named for those who will miss them.
package struct Cascade: Sendable, Hashable {
    /// The change that the database makes to them.
    package enum Effect: String, Sendable, Hashable {
        case delete
        case setNull = "set-null"
        /// They refer to the new value of the row that changed.
        case update
    }

    /// The table that they are in.
    package let table: TableName
    /// The change that the database makes to them.
    package let effect: Effect
    /// Columns of the other table that are read and can be written; those that name a row come first.
    package let columns: [Column]
    /// The number of columns that name a row: its key, or where it has none the columns that referred to the row that
    /// went.
    package let nameCount: Int
    /// Positions of the columns that the database changes, or that referred to the row that was deleted.
    package let links: [Int]
    /// Parallel to `columns`.
    package let rows: [[Value]]

    /// Names rows of one table that change along.
    package init(
        table: TableName, effect: Effect, columns: [Column], nameCount: Int, links: [Int], rows: [[Value]]
    ) {
        self.table = table
        self.effect = effect
        self.columns = columns
        self.nameCount = nameCount
        self.links = links
        self.rows = rows
    }
}
