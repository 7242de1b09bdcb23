/// A row with all columns that can be read and written, so that an undo can restore it exactly.
package struct RawRow: Sendable, Hashable {
    /// The columns with their values, in the order of the table.
    package let values: [RawValue]

    /// Creates a row.
    package init(values: [RawValue]) {
        self.values = values
    }
}
