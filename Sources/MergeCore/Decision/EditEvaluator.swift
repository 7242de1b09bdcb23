/// Decides the rows of edits, those of root, singletons and lists alike, on the rows as they are found.
///
/// Pure: the same input gives the same decision. A push and `explain` both ask it.
package struct EditEvaluator {
    /// The digest of a group's values as they stand on the wire.
    package typealias Digest = (_ section: Section, _ group: Int, _ values: [Value]) -> [UInt8]

    private let digest: Digest

    /// - Parameter digest: SHA-256 of the canonical JSON of a group's values.
    package init(digest: @escaping Digest) {
        self.digest = digest
    }

    /// Decides one row of an edit.
    ///
    /// - Parameters:
    ///   - edit: the edit of the row.
    ///   - action: the edit's action with every temporary id settled.
    ///   - section: the row's section in the edit's resource.
    ///   - row: the row as it is found.
    ///   - budget: the work that merge functions may do in the rest of the push.
    /// - Throws: a 400 `Problem` with the path of a base that neither fits its column nor stands there, or of a value
    ///   that is never written.
    package func evaluate(
        _ edit: RowEdit, action: RowAction, in section: Section, on row: FoundRow,
        spending budget: inout WorkBudget
    ) throws(Problem) -> RowDecision {
        try ForeignBase(section, digest: digest).check(edit, against: row.current)
        try HashedEcho(section, digest: digest).check(edit, against: row.current)
        return decide(action, at: edit.section, in: section, on: row, spending: &budget)
    }

    /// Decides an action on a row.
    ///
    /// - Parameters:
    ///   - position: of the section in the resource, for the outcomes.
    ///   - budget: the work that merge functions may do in the rest of the push.
    package func decide(
        _ action: RowAction, at position: Int, in section: Section, on row: FoundRow,
        spending budget: inout WorkBudget
    ) -> RowDecision {
        let decider = RowDecider(section: section, guards: row.guards) { [digest] group, values in
            digest(section, group, values)
        }
        var decision =
            switch row.state {
            case .present(let values): decider.decide(action, item: nil, current: values, spending: &budget)
            case .gone(let lastKnown):
                decider.decide(action, item: nil, current: nil, lastKnown: lastKnown, spending: &budget)
            case .unreachable: decider.decideWithoutRecord(action, item: nil)
            }
        for index in decision.outcomes.indices {
            decision.outcomes[index].section = position
            decision.outcomes[index].item = row.item
        }
        return decision
    }
}

/// A row that an edit names, as it is found when the edit's turn comes.
package struct FoundRow: Sendable {
    /// The state of a row.
    package enum State: Sendable {
        /// The database holds it.
        case present([Value])
        /// It is not there; with the values that its fields are last known to have held.
        case gone(lastKnown: [Int: Value])
        /// It cannot be there: its record is gone, or an earlier edit did not come to create it.
        case unreachable
    }

    /// The presence of the row, and its values as far as they are known.
    package let state: State
    /// The name of an item in the outcomes; nil in root and singletons.
    package let item: RowLabel?
    /// The guards of the row.
    package let guards: RowGuards

    /// - Parameters:
    ///   - item: the name of an item; nil for a row of a root or a singleton.
    ///   - guards: of the row.
    package init(_ state: State, item: RowLabel? = nil, guards: RowGuards = .none) {
        self.guards = guards
        self.state = state
        self.item = item
    }

    /// The row's values; nil where it is not there.
    package var current: [Value]? {
        if case .present(let values) = state { values } else { nil }
    }
}
