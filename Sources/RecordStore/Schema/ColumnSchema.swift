package import MergeCore

/// A column as the live schema describes it.
package struct ColumnSchema: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// The type with what the rules may make of it.
    package let declared: DeclaredType
    /// The column can be NULL.
    package let isNullable: Bool
    /// The values that the database writes into it by itself.
    package let filling: ColumnFilling

    /// Describes a column.
    package init(name: String, declared: DeclaredType, isNullable: Bool, filling: ColumnFilling) {
        self.name = name
        self.declared = declared
        self.isNullable = isNullable
        self.filling = filling
    }

    /// The type as the database spells it, for messages and the digest of the rules.
    package var declaredType: String { declared.text }
    /// The types that the rules may make of the column, the first being its own; empty where none is supported.
    package var types: [ColumnType] { declared.types }
    /// The types that the rules may make of it only by naming them.
    package var explicitTypes: [ColumnType] { declared.explicitTypes }
    /// The database does not hold the column to its type.
    package var isLoose: Bool { declared.isLoose }
    /// The collation of a text column; nil for other columns, and if the database does not tell.
    package var collation: Collation? { declared.collation }
    /// The database fills the column where an INSERT leaves it out.
    package var hasDefault: Bool { filling.hasDefault }
    /// The database numbers the rows that leave it out.
    package var isAutoIncrement: Bool { filling.isAutoIncrement }
    /// The reason why no client may write the column; nil where one may.
    package var serverOwned: String? { filling.serverOwned }
    /// The server writes the time of the statement into the column wherever an UPDATE changes its row.
    package var isStamped: Bool { filling.isStamped }
}
