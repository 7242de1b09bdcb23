/// A column, also one that no rule names, and its value.
package struct RawValue: Sendable, Hashable {
    /// The column, with the type of the value.
    package let column: Column
    /// The value of the column.
    package let value: Value

    /// Pairs a column with its value.
    package init(column: Column, value: Value) {
        self.column = column
        self.value = value
    }
}

extension RawValue {
    /// Returns the value as a column contains it that is the same column for a section, or contains the same values.
    package func value(in column: Column) -> Value { column.converted(value, from: self.column) }

    /// Returns true if a section's column contains this value.
    ///
    /// A date, as the schema describes it, is equal to each text of a key that expresses it.
    package func isSame(as value: Value, in column: Column) -> Bool {
        self.value(in: column) == value || self.column.converted(value, from: column) == self.value
    }
}
