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
    /// What statements that read the column report of its type; nil if the database user cannot read it.
    package let signature: ColumnSignature?

    /// Describes a column.
    package init(
        name: String, declared: DeclaredType, isNullable: Bool, filling: ColumnFilling,
        signature: ColumnSignature? = nil
    ) {
        self.name = name
        self.declared = declared
        self.isNullable = isNullable
        self.filling = filling
        self.signature = signature
    }

    /// Returns the column as statements use it.
    ///
    /// - Parameter type: one of those that the rules may make of it.
    package func column(as type: ColumnType, isLoose: Bool? = nil) -> Column {
        Column(
            name: name, type: type, isNullable: isNullable, isLoose: isLoose ?? self.isLoose,
            // A spatial column is read through a function, which reports a type of its own.
            signature: type == .wellKnownText ? nil : signature)
    }

    /// The type of the column if rows are found by it.
    package var keyType: ColumnType? { types.first.map { keyType(for: $0) } }

    /// Returns the type of the column if rows are found by it.
    ///
    /// A database without types for dates keeps them as programs spell them, and finds a row by the same spelling only.
    /// So a date in a key is the text that is stored.
    ///
    /// - Parameter type: the one that the rules would make of it.
    package func keyType(for type: ColumnType) -> ColumnType {
        guard type.isDateOrTime else { return type }
        return types.first { if case .text = $0 { true } else { false } } ?? type
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
