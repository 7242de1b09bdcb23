/// The values that a database writes into a column by itself.
package struct ColumnFilling: Sendable, Hashable {
    /// The database fills the column where an INSERT leaves it out.
    package let hasDefault: Bool
    /// The database numbers the rows that leave it out.
    package let isAutoIncrement: Bool
    /// The reason why no client may write the column (generated, ON UPDATE CURRENT_TIMESTAMP); nil where one may.
    package let serverOwned: String?
    /// The server writes the time of the statement into the column wherever an UPDATE changes its row.
    package let isStamped: Bool

    /// Describes how a column is filled.
    package init(
        hasDefault: Bool, isAutoIncrement: Bool = false, serverOwned: String? = nil, isStamped: Bool = false
    ) {
        self.hasDefault = hasDefault
        self.isAutoIncrement = isAutoIncrement
        self.serverOwned = serverOwned
        self.isStamped = isStamped
    }
}
