/// Decides the rows of edits for pushes and for `explain`.
///
/// It is pure: the same input has the same result.
package struct EditEvaluator {
    /// Computes the digest of a group's values in their wire form.
    package typealias Digest = (_ section: Section, _ group: Int, _ values: [Value]) -> [UInt8]

    private let digest: Digest

    /// Creates an evaluator.
    package init(digest: @escaping Digest) {
        self.digest = digest
    }

    /// Decides one row of an edit, whose action has the real keys of all temporary ids.
    ///
    /// - Throws: a 400 `Problem` with the path of a base that does not fit its column, or of a value that is never
    ///   written.
    package func evaluate(
        _ edit: RowEdit, action: RowAction, in section: Section, on row: FoundRow,
        spending budget: inout WorkBudget
    ) throws(Problem) -> RowDecision {
        try ForeignBase(section, digest: digest).check(edit, against: row.current)
        try HashedEcho(section, digest: digest).check(edit, against: row.current)
        return decide(action, at: edit.section, in: section, on: row, spending: &budget)
    }

    /// Decides an action on a row of the section at this position.
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

/// The current row for an edit, after the earlier edits of the push.
package struct FoundRow: Sendable {
    /// The presence of a row.
    package enum State: Sendable {
        case present([Value])
        /// The row does not exist; the values of its fields are the journal's last ones.
        case gone(lastKnown: [Int: Value])
        /// The row cannot exist, because its record was deleted or an earlier edit failed to create it.
        case unreachable
    }

    /// The presence of the row, with its known values.
    package let state: State
    /// The id of an item in the outcomes, or nil in root and singletons.
    package let item: RowLabel?
    /// The guards of the row.
    package let guards: RowGuards

    /// Creates a row, with the id of an item.
    package init(_ state: State, item: RowLabel? = nil, guards: RowGuards = .none) {
        self.guards = guards
        self.state = state
        self.item = item
    }

    /// The row's values, or nil if the row does not exist.
    package var current: [Value]? {
        if case .present(let values) = state { values } else { nil }
    }
}
