package import MergeCore

/// The type of a column as the database declares it, and as the rules may take it.
package struct DeclaredType: Sendable, Hashable {
    /// The type as the database spells it, for messages and the digest of the rules.
    package let text: String
    /// The types that the rules may make of the column, the first being its own; empty where none is supported.
    package let types: [ColumnType]
    /// The types that the rules may make of it only by naming them.
    package let explicitTypes: [ColumnType]
    /// The database does not hold the column to its type.
    package let isLoose: Bool
    /// The collation of a text column; nil for other columns, and if the database does not tell.
    package let collation: Collation?

    /// Describes a declared type.
    package init(
        _ text: String, types: [ColumnType], explicitTypes: [ColumnType] = [], isLoose: Bool = false,
        collation: Collation? = nil
    ) {
        self.collation = collation
        self.text = text
        self.types = types
        self.explicitTypes = explicitTypes
        self.isLoose = isLoose
    }
}
