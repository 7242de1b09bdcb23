/// A rule that keeps the current value of a row or group, whatever a client sends.
package enum GuardKind: String, Sendable, Hashable {
    case frozen = "frozen-when"
    case transitions
}

/// The guards of a row, evaluated on the row before the push, not on the effects of earlier edits in the push.
package struct RowGuards: Sendable, Hashable {
    /// The rule that freezes the row, or nil if it may be written.
    package var frozen: RuleReference?
    /// The row before the push, if an earlier edit of the push has changed it.
    package var before: [Value]?
    /// True if the push inserted the row, so that no earlier row exists.
    package var isNew = false

    /// True if an undo would delete the record together with rows that were added or changed later.
    package var hasLaterRows = false

    /// No guards.
    package static let none = RowGuards()

    /// Creates the guards of a row.
    package init(frozen: RuleReference? = nil, before: [Value]? = nil) {
        self.frozen = frozen
        self.before = before
    }
}

extension GroupDecision {
    /// Returns the decision that the guards allow; a forbidden change of `before` keeps the current value.
    package func guarded(by guards: RowGuards, in group: Group, before: [Value]) -> GroupDecision {
        if guards.isNew || outcome == .unchanged || outcome == .already { return self }
        if let rule = guards.frozen { return held(by: .frozen, rule, in: group) }
        guard let steps = group.transitions, let from = before.first, let to = written?.first, from != to,
            let followers = steps.value[from], !followers.contains(to)
        else { return self }
        return held(by: .transitions, steps.rule, in: group)
    }

    private func held(by kind: GuardKind, _ rule: RuleReference, in group: Group) -> GroupDecision {
        GroupDecision(
            group.onConflict.value == .reject ? .rejected : .serverWon, isConflict: true, rule: rule, guardKind: kind)
    }
}
