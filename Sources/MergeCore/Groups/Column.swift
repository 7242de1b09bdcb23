/// A column of a section's table.
///
/// An object, as fields and groups are: every value that is read or written asks for it, and it never changes.
package final class Column: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// The type that the rules make of it.
    package let type: ColumnType
    /// The column can be NULL.
    package let isNullable: Bool
    /// The database lets the column hold values of other types as well (SQLite, or a boolean kept in an integer).
    package let isLoose: Bool
    /// The column's type as the database reported it when the schema was read; nil for a column that no schema describes.
    package let signature: ColumnSignature?
    /// The form of its values on the wire.
    package let style: ValueStyle

    /// Describes a column.
    package init(
        name: String, type: ColumnType, isNullable: Bool, isLoose: Bool = false, signature: ColumnSignature? = nil
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.isLoose = isLoose
        self.signature = signature
        style = ValueStyle(type)
    }

    package static func == (a: Column, b: Column) -> Bool {
        a === b
            || (a.name, a.type, a.isNullable, a.isLoose, a.signature)
                == (b.name, b.type, b.isNullable, b.isLoose, b.signature)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Column {
    /// Returns what a JSON column means by a text.
    ///
    /// The wire has one null. If the column can be NULL, JSON's own null is NULL. A text that is no JSON is the JSON string
    /// of its characters.
    package func json(_ source: String) -> Value {
        guard let tree = JSONParser.parse(source) else { return .json(.text(ExactText(source))) }
        return tree == .null && isNullable ? .null : .json(tree)
    }
}
