/// The status of a push or of one of its edits.
package enum PushStatus: String, Sendable, Hashable {
    case merged
    case rejected
    case failed
    case partial
}

/// A temporary id and the key that its row got.
package struct IDMapping: Sendable, Hashable {
    package let temporary: TemporaryID
    package let key: RecordKey
    /// The section whose key it is.
    package let section: Int

    package init(temporary: TemporaryID, key: RecordKey, section: Int) {
        self.temporary = temporary
        self.key = key
        self.section = section
    }
}

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

/// The result of a push.
package struct PushResult: Sendable, Hashable {
    package let key: String?
    package let status: PushStatus
    package let results: [EditResult]

    /// Why the push as a whole was rejected or failed: the problem of the edit that was at fault.
    package var problem: Problem? {
        guard status == .rejected || status == .failed else { return nil }
        let problems = results.compactMap(\.problem)
        return problems.first { $0.code != .rolledBack } ?? problems.first
    }

    /// No table without transactions took part.
    package var isAtomic: Bool { results.allSatisfy { $0.resource.isAtomic } }

    package init(key: String?, status: PushStatus, results: [EditResult]) {
        self.key = key
        self.status = status
        self.results = results
    }
}
