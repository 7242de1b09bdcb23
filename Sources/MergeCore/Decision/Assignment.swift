/// One column and the value that it gets.
package struct Assignment: Sendable, Hashable {
    /// Position in the section's `columns`.
    package let column: Int
    package let value: Value

    package init(column: Int, value: Value) {
        self.column = column
        self.value = value
    }
}
