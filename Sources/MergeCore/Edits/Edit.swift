/// The changes to one record.
package final class Edit: Sendable, Hashable {
    /// The resource whose record it is.
    package let resource: Resource
    /// The name of the record, a key or a temporary id.
    package let id: RowID
    /// The changes to its rows, in the order in which they were sent.
    package let rows: [RowEdit]
    /// The place of the edit in the body.
    package let path: WirePath
    /// What the edit takes back of an entry of the journal; none unless it is an undo.
    package let reversals: [Reversal]

    /// Makes an edit of the changes to rows of one record.
    package init(resource: Resource, id: RowID, rows: [RowEdit], path: WirePath, reversals: [Reversal] = []) {
        self.resource = resource
        self.id = id
        self.rows = rows
        self.path = path
        self.reversals = reversals
    }

    package static func == (a: Edit, b: Edit) -> Bool {
        a === b || (a.resource, a.id, a.rows, a.path, a.reversals) == (b.resource, b.id, b.rows, b.path, b.reversals)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(path)
    }

    /// Tells whether the edit creates its record.
    package var createsRecord: Bool {
        rows.contains { row in
            if row.section == 0, case .create = row.action { true } else { false }
        }
    }
}
