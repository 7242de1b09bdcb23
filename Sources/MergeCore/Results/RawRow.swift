/// A row with all columns that can be read and written, so that an undo can restore it exactly.
package struct RawRow: Sendable, Hashable {
    /// The columns with their values, in the order of the table.
    package let values: [RawValue]
    /// The private fields whose values the journal does not contain, so that the row cannot be inserted again.
    package let lost: [String]

    /// Creates a row.
    package init(values: [RawValue], lost: [String] = []) {
        self.values = values
        self.lost = lost
    }
}
