/// A column of a section's table, as a class to avoid copies.
package final class Column: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// The type according to schema and rules.
    package let type: ColumnType
    /// True if the column can be NULL.
    package let isNullable: Bool
    /// The values of other types that the column may contain (SQLite, or a boolean in an integer column).
    package let foreign: ForeignValues
    /// True if the database stores dates and times as texts, so that equal values may have different spellings.
    package let isSpelled: Bool
    /// The column's type as the database reported it with the schema, or nil if no schema describes the column.
    package let signature: ColumnSignature?
    /// The form of the values on the wire.
    package let style: ValueStyle
    /// The column with its own type, if the rules read it as a boolean of two stored values.
    package let uncoded: Column?
    /// The step to the referred row that contains the value, or nil for a column of the table.
    package let lookup: ReferenceStep?

    /// Creates a column.
    package init(
        name: String, type: ColumnType, isNullable: Bool, foreign: ForeignValues = .none, isSpelled: Bool = false,
        signature: ColumnSignature? = nil, lookup: ReferenceStep? = nil
    ) {
        self.lookup = lookup
        self.isSpelled = isSpelled
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.foreign = foreign
        self.signature = signature
        style = ValueStyle(type)
        if case .coded(let code) = type {
            uncoded = Column(
                name: name, type: code.type, isNullable: isNullable, foreign: foreign, signature: signature)
        } else {
            uncoded = nil
        }
    }

    package static func == (a: Column, b: Column) -> Bool {
        a === b
            || (a.name, a.type, a.isNullable, a.foreign, a.signature, a.lookup)
                == (b.name, b.type, b.isNullable, b.foreign, b.signature, b.lookup) && a.isSpelled == b.isSpelled
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// True if the column can contain values of other types.
    package var isLoose: Bool { foreign != .none }
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

extension Column {
    /// Creates a column that is read from a referred row.
    ///
    /// It has no signature, because a subquery does not report that of the column.
    package static func lookup(_ step: ReferenceStep) -> Column {
        Column(
            name: step.own.name + "." + step.column.name, type: step.column.type, isNullable: true,
            foreign: step.column.foreign, isSpelled: step.column.isSpelled, lookup: step)
    }
}
