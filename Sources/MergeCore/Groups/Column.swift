/// A column of a section's table, as a class to avoid copies.
package final class Column: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// The type according to schema and rules.
    package let type: ColumnType
    /// True if the column can be NULL.
    package let isNullable: Bool
    /// True if the column can contain values of other types (SQLite, or a boolean in an integer column).
    package let isLoose: Bool
    /// The column's type as the database reported it with the schema, or nil if no schema describes the column.
    package let signature: ColumnSignature?
    /// The form of the values on the wire.
    package let style: ValueStyle
    /// The column with its own type, if the rules read it as a boolean of two stored values.
    package let uncoded: Column?

    /// Creates a column.
    package init(
        name: String, type: ColumnType, isNullable: Bool, isLoose: Bool = false, signature: ColumnSignature? = nil
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.isLoose = isLoose
        self.signature = signature
        style = ValueStyle(type)
        if case .coded(let code) = type {
            uncoded = Column(
                name: name, type: code.type, isNullable: isNullable, isLoose: isLoose, signature: signature)
        } else {
            uncoded = nil
        }
    }

    package static func == (a: Column, b: Column) -> Bool {
        a === b
            || (a.name, a.type, a.isNullable, a.isLoose, a.signature)
                == (b.name, b.type, b.isNullable, b.isLoose, b.signature)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Column {
    /// Returns the value of a text in a JSON column, whose own null is NULL if the column can be NULL.
    ///
    /// A text that is not JSON becomes a JSON string.
    package func json(_ source: String) -> Value {
        guard let tree = JSONParser.parse(source) else { return .json(.text(ExactText(source))) }
        return tree == .null && isNullable ? .null : .json(tree)
    }
}
