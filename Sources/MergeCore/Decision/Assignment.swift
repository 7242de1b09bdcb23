/// A column and its new value.
package struct Assignment: Sendable, Hashable {
    /// The position in the section's `columns`.
    package let column: Int
    /// The value to write, of the column's type.
    package let value: Value

    /// Assigns a value to a column.
    package init(column: Int, value: Value) {
        self.column = column
        self.value = value
    }
}
