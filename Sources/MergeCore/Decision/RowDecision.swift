/// The decision on one row: its outcomes and the change to write.
package struct RowDecision: Sendable, Hashable {
    /// The outcomes of the groups, or of the whole row; empty if the client changed nothing.
    package var outcomes: [Outcome]
    /// The change to write.
    package var change: RowChange
    /// True if a policy `reject` decided, so that nothing of the edit may be written.
    package var isRejected: Bool

    /// Creates a decision.
    package init(outcomes: [Outcome], change: RowChange, isRejected: Bool = false) {
        self.outcomes = outcomes
        self.change = change
        self.isRejected = isRejected
    }
}
