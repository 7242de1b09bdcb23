/// The decision on one row: its outcomes and what to write.
package struct RowDecision: Sendable, Hashable {
    /// The outcomes of the groups, or the one of the whole row; empty where the client wished for nothing.
    package var outcomes: [Outcome]
    /// The change to write.
    package var change: RowChange
    /// A policy `reject` decided, so that nothing of the edit may be written.
    package var isRejected: Bool

    /// Makes a decision of its outcomes and the change.
    package init(outcomes: [Outcome], change: RowChange, isRejected: Bool = false) {
        self.outcomes = outcomes
        self.change = change
        self.isRejected = isRejected
    }
}
