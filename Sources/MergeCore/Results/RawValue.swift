/// A column that the rules need not know, and what it holds.
package struct RawValue: Sendable, Hashable {
    /// The column, of the type that the schema tells.
    package let column: Column
    /// The value that it holds.
    package let value: Value

    /// Pairs a column with its value.
    package init(column: Column, value: Value) {
        self.column = column
        self.value = value
    }
}
