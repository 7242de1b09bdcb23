/// The traces of rows in an entry of the journal.
package struct EntryTraces: Sendable, Hashable {
    /// The events of each row of which the entry tells any, in their order.
    package let rows: [EntryRow: [RowTrace]]
    /// The values that conditions of access looked at in the record before and after; nil where they are not known.
    package let conditions: [ConditionTuple]?

    /// Bundles what an entry tells.
    package init(rows: [EntryRow: [RowTrace]], conditions: [ConditionTuple]? = nil) {
        self.rows = rows
        self.conditions = conditions
    }
}

/// The trace of a row in an entry of the journal, for one that is to come back.
package enum RowTrace: Sendable, Hashable {
    /// The values that some of its fields held from then on.
    case fields([Int: Value])
    /// The whole row as it was when it was deleted, by its columns' names, and its fields.
    case whole([Int: Value], RawRow)
}
