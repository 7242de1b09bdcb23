/// The values that a database writes into a column by itself.
package struct ColumnFilling: Sendable, Hashable {
    /// True if the database fills the column when an INSERT leaves it out.
    package let hasDefault: Bool
    /// True if the database numbers the rows that leave it out.
    package let isAutoIncrement: Bool
    /// The reason why clients cannot write the column (generated, ON UPDATE CURRENT_TIMESTAMP); nil if they can.
    package let serverOwned: String?
    /// True if every UPDATE of a row sets the column to the time of the statement.
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
