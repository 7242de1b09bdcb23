/// A rule that keeps a row or a group as it is, whatever a client sends.
package enum GuardKind: String, Sendable, Hashable {
    case frozen = "frozen-when"
    case transitions
}

/// The guards of a row as it was before its push: what may become of it depends on that, not on what earlier edits of the
/// same push made of it.
package struct RowGuards: Sendable, Hashable {
    /// The rule under which the row is written no more; nil where it may be.
    package var frozen: RuleReference?
    /// The row before the push, where an earlier edit of it has changed the row since.
    package var before: [Value]?
    /// The push itself inserted the row: there was none to judge.
    package var isNew = false

    /// Guards nothing.
    package static let none = RowGuards()

    /// Guards a row.
    package init(frozen: RuleReference? = nil, before: [Value]? = nil) {
        self.frozen = frozen
        self.before = before
    }
}

extension GroupDecision {
    /// Returns the decision that the guards of a row allow: one that may not be written keeps what stands.
    ///
    /// - Parameter before: the group's values before the push.
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
