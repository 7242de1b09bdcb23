/// A column that the rules need not know, and what it holds.
package struct RawValue: Sendable, Hashable {
    package let column: Column
    package let value: Value

    package init(column: Column, value: Value) {
        self.column = column
        self.value = value
    }
}

/// A row with every column that its table lets be read and written, so that it can come back as it was.
package struct RawRow: Sendable, Hashable {
    package let values: [RawValue]

    package init(values: [RawValue]) {
        self.values = values
    }
}
