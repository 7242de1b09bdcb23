package import MergeCore

/// The declared type of a column, and the types that the rules may choose.
package struct DeclaredType: Sendable, Hashable {
    /// The type as the database spells it, for messages and the digest of the rules.
    package let text: String
    /// The types that the rules may choose, the default first; empty if the type is not supported.
    package let types: [ColumnType]
    /// The types that the rules may choose only by name.
    package let explicitTypes: [ColumnType]
    /// True if the database does not enforce the type.
    package let isLoose: Bool
    /// The collation of a text column; nil for other columns, and if the database does not report it.
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
