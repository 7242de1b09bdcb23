/// The result of one edit.
///
/// An object, because it is large and goes from hand to hand.
package final class EditResult: Sendable, Hashable {
    /// The resource of the record.
    package let resource: Resource
    /// The name of the record: its key, or the temporary id where it has none.
    package let id: RowLabel?
    /// The status of the edit.
    package let status: PushStatus
    /// The record as it stands after the push; nil where there is none.
    package let record: Record?
    /// nil in a push that was rolled back.
    package let ids: [IDMapping]?
    /// The outcomes of its groups and rows, in the order in which they were sent.
    package let outcomes: [Outcome]
    /// The reason if the edit was not merged, or if it was merged and its record cannot be read.
    package let problem: Problem?
    /// The marks of rules of access.
    package let access: EditAccess

    /// Makes the result of one edit.
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

/// The marks of rules of access on the result of an edit.
package struct EditAccess: Sendable, Hashable {
    /// The parts of rows in the outcomes that the client may read; nil where it may read all.
    package var sight: RecordSight?
    /// What conditions of access looked at in the record before the edit and after it, for the journal.
    package var conditions: [ConditionTuple]

    /// Marks nothing where nothing is given.
    package init(sight: RecordSight? = nil, conditions: [ConditionTuple] = []) {
        self.sight = sight
        self.conditions = conditions
    }
}
