/// A column that the rules need not know, and what it holds.
package struct RawValue: Sendable, Hashable {
    package let column: Column
    package let value: Value

    package init(column: Column, value: Value) {
        self.column = column
        self.value = value
    }
}
