/// The decision on one row: its outcomes and what to write.
package struct RowDecision: Sendable, Hashable {
    package var outcomes: [Outcome]
    package var change: RowChange
    package var isRejected: Bool

    package init(outcomes: [Outcome], change: RowChange, isRejected: Bool = false) {
        self.outcomes = outcomes
        self.change = change
        self.isRejected = isRejected
    }
}
