/// The effect of a journal entry on a row, limited to the fields that the entry contains.
package struct RowEffect: Sendable, Hashable {
    /// A row of a resource.
    package struct Row: Sendable, Hashable {
        /// The key of the record.
        package let record: RecordKey
        /// The position in the resource's `sections`.
        package let section: Int
        /// The key of the row in its section, or nil for a singleton.
        package let key: RecordKey?

        /// Creates a reference to a row.
        package init(record: RecordKey, section: Int, key: RecordKey?) {
            self.record = record
            self.section = section
            self.key = key
        }
    }

    /// The row.
    package let row: Row
    /// The values before the entry by field, or nil if the row did not exist.
    package private(set) var before: [Int: KeptValue]?
    /// The values after the entry by field, or nil if the row was deleted.
    package private(set) var after: [Int: KeptValue]?

    /// Creates the effect on one row.
    package init(_ row: Row, before: [Int: KeptValue]?, after: [Int: KeptValue]?) {
        self.row = row
        self.before = before
        self.after = after
    }

    /// Adds a later effect of the same transaction on the same row.
    package mutating func add(_ later: RowEffect) {
        // If only the later effect names a column, the earlier effect did not change it.
        before?.merge(later.before ?? [:]) { first, _ in first }
        guard let written = later.after else {
            after = nil
            return
        }
        after = after?.merging(written) { $1 } ?? written
    }
}
