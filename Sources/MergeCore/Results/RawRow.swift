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

extension RawRow {
    /// Returns the value of a section's column; nil if the row does not contain the column.
    package func value(of column: Column) -> Value? { self[column]?.value(in: column) }

    /// Returns true if the row contains a value in a section's column, and nil if it does not contain the column.
    package func contains(_ value: Value, in column: Column) -> Bool? { self[column]?.isSame(as: value, in: column) }

    private subscript(column: Column) -> RawValue? {
        column.lookup == nil ? values.first { $0.column.name == column.name } : nil
    }
}
