/// A row with every column that its table lets be read and written, so that it can come back as it was.
package struct RawRow: Sendable, Hashable {
    /// The columns with their values, in the order of the table.
    package let values: [RawValue]

    /// Makes a row of columns and values.
    package init(values: [RawValue]) {
        self.values = values
    }
}
