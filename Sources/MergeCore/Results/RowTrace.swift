/// The events of rows that a journal entry contains.
package struct EntryTraces: Sendable, Hashable {
    /// The events of each row, in their order.
    package let rows: [EntryRow: [RowTrace]]
    /// The values that access conditions read in the record before and after, or nil if they are unknown.
    package let conditions: [ConditionTuple]?

    /// Creates the traces of an entry.
    package init(rows: [EntryRow: [RowTrace]], conditions: [ConditionTuple]? = nil) {
        self.rows = rows
        self.conditions = conditions
    }
}

/// An event that a journal entry contains about a row, for the restoration of the row.
package enum RowTrace: Sendable, Hashable {
    /// Some fields have these values from then on.
    case fields([Int: Value])
    /// The row was deleted, with these fields and these columns.
    case whole([Int: Value], RawRow)
}
