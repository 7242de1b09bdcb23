package import MergeCore

/// A column as the live schema describes it.
package struct ColumnSchema: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// The type as the database spells it, for messages and the digest of the rules.
    package let declaredType: String
    /// The types that the rules may make of the column, the first being its own; empty where none is supported.
    package let types: [ColumnType]
    /// The types that the rules may make of it only by naming them.
    package let explicitTypes: [ColumnType]
    /// The column can be NULL.
    package let isNullable: Bool
    /// The database fills the column where an INSERT leaves it out.
    package let hasDefault: Bool
    /// The database numbers the rows that leave it out.
    package let isAutoIncrement: Bool
    /// Why no client may write the column (generated, ON UPDATE CURRENT_TIMESTAMP); nil where one may.
    package let serverOwned: String?
    /// The server writes the time of the statement into the column wherever an UPDATE changes its row.
    package let isStamped: Bool

    /// The database does not hold the column to its type.
    package let isLoose: Bool

    package init(
        name: String, declaredType: String, types: [ColumnType], explicitTypes: [ColumnType] = [],
        isNullable: Bool, hasDefault: Bool, isAutoIncrement: Bool = false, serverOwned: String? = nil,
        isStamped: Bool = false, isLoose: Bool = false
    ) {
        self.name = name
        self.declaredType = declaredType
        self.types = types
        self.explicitTypes = explicitTypes
        self.isNullable = isNullable
        self.hasDefault = hasDefault
        self.isAutoIncrement = isAutoIncrement
        self.serverOwned = serverOwned
        self.isStamped = isStamped
        self.isLoose = isLoose
    }
}
