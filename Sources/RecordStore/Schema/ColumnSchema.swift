package import MergeCore

/// A column in the live schema.
package struct ColumnSchema: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// The declared type and the types that the rules may choose.
    package let declared: DeclaredType
    /// True if the column can be NULL.
    package let isNullable: Bool
    /// The values that the database writes into it by itself.
    package let filling: ColumnFilling
    /// The type that statements report for the column; nil if the database user cannot read it.
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
    /// - Parameter type: one of the types that the rules may choose.
    package func column(as type: ColumnType) -> Column {
        Column(
            name: name, type: type, isNullable: isNullable, foreign: foreign(as: type),
            isSpelled: type.isDateOrTime && storesTexts,
            // A spatial column is read through a function, which reports its own type.
            signature: type == .wellKnownText ? nil : signature)
    }

    /// Returns the values that the column may contain and that a type cannot express.
    private func foreign(as type: ColumnType) -> ForeignValues {
        if case .coded = type { return .none }
        if isLoose { return .any }
        if type.isDateOrTime, storesTexts { return .texts }
        if type == .boolean, case .integer(let range)? = types.first { return .integers(range) }
        return .none
    }

    /// True if the rules may read the column as text.
    private var storesTexts: Bool {
        (types + explicitTypes).contains { if case .text = $0 { true } else { false } }
    }

    /// The type of the column in a key.
    package var keyType: ColumnType? { types.first.map { keyType(for: $0) } }

    /// Returns the type of the column in a key.
    ///
    /// A database without date types finds a date only by its stored spelling. So a date in a key is the stored text.
    ///
    /// - Parameter type: the type that the rules would choose.
    package func keyType(for type: ColumnType) -> ColumnType {
        guard type.isDateOrTime else { return type }
        return types.first { if case .text = $0 { true } else { false } } ?? type
    }

    /// The type as the database spells it, for messages and the digest of the rules.
    package var declaredType: String { declared.text }
    /// The types that the rules may choose, the default first; empty if the type is not supported.
    package var types: [ColumnType] { declared.types }
    /// The types that the rules may choose only by name.
    package var explicitTypes: [ColumnType] { declared.explicitTypes }
    /// True if the database does not enforce the type.
    package var isLoose: Bool { declared.isLoose }
    /// The collation of a text column; nil for other columns, and if the database does not report it.
    package var collation: Collation? { declared.collation }
    /// True if the database fills the column when an INSERT leaves it out.
    package var hasDefault: Bool { filling.hasDefault }
    /// True if the database numbers the rows that leave it out.
    package var isAutoIncrement: Bool { filling.isAutoIncrement }
    /// The reason why clients cannot write the column; nil if they can.
    package var serverOwned: String? { filling.serverOwned }
    /// True if every UPDATE of a row sets the column to the time of the statement.
    package var isStamped: Bool { filling.isStamped }
}
