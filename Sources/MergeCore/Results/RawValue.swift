/// A column, also one that no rule names, and its value.
package struct RawValue: Sendable, Hashable {
    /// The column, with its type in the schema.
    package let column: Column
    /// The value of the column.
    package let value: Value

    /// Pairs a column with its value.
    package init(column: Column, value: Value) {
        self.column = column
        self.value = value
    }
}
