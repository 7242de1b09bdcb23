/// The result of one edit.
///
/// An object, because it is large and goes from hand to hand.
package final class EditResult: Sendable, Hashable {
    package let resource: Resource
    package let id: RowLabel?
    package let status: PushStatus
    /// The record as it stands after the push; nil where there is none.
    package let record: Record?
    /// nil in a push that was rolled back.
    package let ids: [IDMapping]?
    package let outcomes: [Outcome]
    package let problem: Problem?

    package init(
        resource: Resource, id: RowLabel?, status: PushStatus, record: Record? = nil, ids: [IDMapping]? = nil,
        outcomes: [Outcome] = [], problem: Problem? = nil
    ) {
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
