/// The effect of a journal entry on a row, as far as the entry contains its fields.
package struct RowEffect: Sendable, Hashable {
    /// A row of a resource.
    package struct Row: Sendable, Hashable {
        /// The key of the record.
        package let record: RecordKey
        /// Position in the resource's `sections`.
        package let section: Int
        /// The key of the row in its section; nil for a singleton, of which a record has one row.
        package let key: RecordKey?

        /// Names a row.
        package init(record: RecordKey, section: Int, key: RecordKey?) {
            self.record = record
            self.section = section
            self.key = key
        }
    }

    /// The row.
    package let row: Row
    /// By field; nil if there was no row.
    package private(set) var before: [Int: KeptValue]?
    /// By field; nil if the row was deleted.
    package private(set) var after: [Int: KeptValue]?

    /// Makes the effect on one row.
    package init(_ row: Row, before: [Int: KeptValue]?, after: [Int: KeptValue]?) {
        self.row = row
        self.before = before
        self.after = after
    }

    /// Adds a later effect of the same transaction on the same row.
    package mutating func add(_ later: RowEffect) {
        // A column that only the later effect names was the same before the earlier one.
        before?.merge(later.before ?? [:]) { first, _ in first }
        guard let written = later.after else {
            after = nil
            return
        }
        after = after?.merging(written) { $1 } ?? written
    }
}
