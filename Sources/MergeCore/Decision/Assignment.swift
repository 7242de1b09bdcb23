/// One column and the value that it gets.
package struct Assignment: Sendable, Hashable {
    /// Position in the section's `columns`.
    package let column: Int
    /// The value to write, of the type of the column.
    package let value: Value

    /// Assigns a value to a column by its position.
    package init(column: Int, value: Value) {
        self.column = column
        self.value = value
    }
}
