/// The result of one edit, as a class to avoid copies.
package final class EditResult: Sendable, Hashable {
    /// The resource of the record.
    package let resource: Resource
    /// The record's key, or its temporary id if it has no key.
    package let id: RowLabel?
    /// The status of the edit.
    package let status: PushStatus
    /// The record after the push, or nil if there is none.
    package let record: Record?
    /// The keys of the temporary ids, or nil if the push was rolled back.
    package let ids: [IDMapping]?
    /// The outcomes of the groups and rows, in the order of the edit.
    package let outcomes: [Outcome]
    /// The reason if the edit was not merged, or if its record cannot be read after the merge.
    package let problem: Problem?
    /// The information that access rules add.
    package let access: EditAccess

    /// Creates the result of one edit.
    package init(
        resource: Resource, id: RowLabel?, status: PushStatus, record: Record? = nil, ids: [IDMapping]? = nil,
        outcomes: [Outcome] = [], problem: Problem? = nil, access: EditAccess = EditAccess()
    ) {
        self.access = access
        self.resource = resource
        self.id = id
        self.status = status
        self.record = record
        self.ids = ids
        self.outcomes = outcomes
        self.problem = problem
    }

    package static func == (a: EditResult, b: EditResult) -> Bool {
        a.resource == b.resource && a.id == b.id && a.status == b.status && a.record == b.record && a.ids == b.ids
            && a.outcomes == b.outcomes && a.problem == b.problem
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(status)
    }
}

/// The information that access rules add to the result of an edit.
package struct EditAccess: Sendable, Hashable {
    /// The parts of rows that the client may read, or nil if it may read everything.
    package var sight: RecordSight?
    /// The values that access conditions read in the record before and after the edit, for the journal.
    package var conditions: [ConditionTuple]

    /// Creates access information that is empty by default.
    package init(sight: RecordSight? = nil, conditions: [ConditionTuple] = []) {
        self.sight = sight
        self.conditions = conditions
    }
}
