/// The changes to one record.
package final class Edit: Sendable, Hashable {
    /// The resource of the record.
    package let resource: Resource
    /// The key or temporary id of the record.
    package let id: RowID
    /// The changes to rows, in the order of the request.
    package let rows: [RowEdit]
    /// The location of the edit in the body.
    package let path: WirePath
    /// The parts of a journal entry that the edit undoes; empty unless the edit is an undo.
    package let reversals: [Reversal]
    /// True for an undo that replaces later changes.
    package let isForced: Bool

    /// Creates an edit of one record.
    package init(
        resource: Resource, id: RowID, rows: [RowEdit], path: WirePath, reversals: [Reversal] = [],
        isForced: Bool = false
    ) {
        self.isForced = isForced
        self.resource = resource
        self.id = id
        self.rows = rows
        self.path = path
        self.reversals = reversals
    }

    package static func == (a: Edit, b: Edit) -> Bool {
        a === b
            || (a.resource, a.id, a.rows, a.path, a.reversals) == (b.resource, b.id, b.rows, b.path, b.reversals)
                && a.isForced == b.isForced
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(path)
    }

    /// True for an undo that keeps later changes.
    package var keepsLaterChanges: Bool { !reversals.isEmpty && !isForced }

    /// True if the edit creates its record.
    package var createsRecord: Bool {
        rows.contains { row in
            if row.section == 0, case .create = row.action { true } else { false }
        }
    }
}
