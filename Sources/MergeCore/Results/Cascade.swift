/// Rows of one table that the database itself deleted or changed because another row was deleted or changed.
package struct Cascade: Sendable, Hashable {
    /// The change that the database makes to the rows.
    package enum Effect: String, Sendable, Hashable {
        case delete
        case setNull = "set-null"
        /// The rows refer to the new value of the changed row.
        case update
    }

    /// The table of the rows.
    package let table: TableName
    /// The change that the database makes to the rows.
    package let effect: Effect
    /// The columns that are read and can be written, beginning with the columns that identify a row.
    package let columns: [Column]
    /// The number of columns that identify a row.
    ///
    /// These are the key columns. If the table has no key, they are the columns that referred to the deleted row.
    package let nameCount: Int
    /// Positions of the columns that the database changes, or that referred to the deleted row.
    package let links: [Int]
    /// The values of each row, parallel to `columns`.
    package let rows: [[Value]]

    /// Creates a cascade.
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
