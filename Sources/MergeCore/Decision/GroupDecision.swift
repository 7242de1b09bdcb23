/// The decision on one group: its outcome and the values to write.
package struct GroupDecision: Sendable, Hashable {
    /// The name of the outcome.
    package let outcome: OutcomeKind
    /// The new values of the group, or nil if nothing is written.
    package let written: [Value]?
    /// True if the edit met another change.
    package let isConflict: Bool
    /// The rule that decided.
    package let rule: RuleReference
    /// The parts for which a merge function had to choose a side.
    package let parts: [MergedPart]
    /// The reason why the merge function did not decide, or nil if it did or the group has none.
    package let fallback: String?
    /// The kind of guard that decided, or nil if none did.
    package let guardKind: GuardKind?

    init(
        _ outcome: OutcomeKind, written: [Value]? = nil, isConflict: Bool = false, rule: RuleReference = .default,
        parts: [MergedPart] = [], fallback: String? = nil, guardKind: GuardKind? = nil
    ) {
        self.guardKind = guardKind
        self.outcome = outcome
        self.written = written
        self.isConflict = isConflict
        self.rule = rule
        self.parts = parts
        self.fallback = fallback
    }

    /// Compares the three values of one group (Protocol.md, section 4).
    ///
    /// - Parameters:
    ///   - base: The values that the client last read, or nil if it had none.
    ///   - digest: Computes the digest of a group's wire form, for a base digest or values foreign to their column.
    ///   - budget: The work that a merge function may do. Beyond it `on-conflict` decides the whole group.
    package static func decide(
        base: GroupState?, edited: [Value], current: [Value], group: Group, types: [ColumnType],
        digest: ([Value]) -> [UInt8], spending budget: inout WorkBudget
    ) -> GroupDecision {
        // An edit without a change is no conflict, whatever the current value is.
        if let base, base.matches(edited, digest) { return GroupDecision(.unchanged) }
        // Both sides have the same values, so nothing is lost or left to write. Under `add`, two clients that count
        // from 5 to 6 make 7.
        if edited == current, !addsUp(base, to: edited, in: group, types: types) { return GroupDecision(.already) }
        // Only the client changed the group.
        if let base, base.matches(current, digest) { return GroupDecision(.applied, written: edited) }
        if let base, base.isShown(by: current, types, digest) {
            return GroupDecision(.applied, written: base.leaving(current, but: edited))
        }
        // All three values differ, or the client had no base and the row exists.
        let winning = writable(edited, base: base, current: current, types: types)
        guard let merge = group.merge else { return byPolicy(group.onConflict, winning) }
        let meeting = Meeting(
            base: base, edited: edited, current: current, types: types, favouring: group.onConflict.value.favoured)
        switch merge.value.settle(meeting, spending: &budget) {
        case .side(.client):
            return GroupDecision(.clientWon, written: winning, isConflict: true, rule: merge.rule)
        case .side(.server):
            return GroupDecision(.serverWon, isConflict: true, rule: merge.rule)
        case .combined(_, let parts) where !parts.isEmpty && group.onConflict.value == .reject:
            return GroupDecision(.rejected, isConflict: true, rule: group.onConflict.rule, parts: parts)
        case .combined(let values, let parts):
            return GroupDecision(.combined, written: values, isConflict: true, rule: merge.rule, parts: parts)
        case .undecided(let reason):
            return byPolicy(group.onConflict, winning, fallback: "merge: \(merge.value.name) did not run: \(reason)")
        }
    }

    /// Compares the three values of one group with the budget of a whole push.
    package static func decide(
        base: GroupState?, edited: [Value], current: [Value], group: Group, types: [ColumnType],
        digest: ([Value]) -> [UInt8]
    ) -> GroupDecision {
        var budget = WorkBudget.push
        return decide(
            base: base, edited: edited, current: current, group: group, types: types, digest: digest, spending: &budget)
    }

    /// Returns true if the client's change is added to other changes (`merge: add`).
    private static func addsUp(
        _ base: GroupState?, to edited: [Value], in group: Group, types: [ColumnType]
    ) -> Bool {
        guard case .add? = group.merge?.value, case .values(let held)? = base, let type = types.first, type.isNumber
        else { return false }
        return (held + edited).allSatisfy { !$0.isNull && !type.isForeign($0) }
    }

    /// Returns the values that a client writes if it wins a conflict.
    ///
    /// A field keeps its current value if the client only repeats a base that is never written.
    private static func writable(
        _ edited: [Value], base: GroupState?, current: [Value], types: [ColumnType]
    ) -> [Value] {
        guard case .values(let held)? = base else { return edited }
        return edited.indices.map { field in
            edited[field] == held[field] && types[field].forbidsWriting(edited[field]) != nil
                ? current[field] : edited[field]
        }
    }

    private static func byPolicy(
        _ policy: Ruled<ConflictPolicy>, _ edited: [Value], fallback: String? = nil
    ) -> GroupDecision {
        switch policy.value {
        case .clientWins:
            GroupDecision(.clientWon, written: edited, isConflict: true, rule: policy.rule, fallback: fallback)
        case .serverWins: GroupDecision(.serverWon, isConflict: true, rule: policy.rule, fallback: fallback)
        case .reject: GroupDecision(.rejected, isConflict: true, rule: policy.rule, fallback: fallback)
        }
    }
}

extension ConflictPolicy {
    /// The side that wins a part that both sides changed; under `reject` nothing is written.
    var favoured: MergeSide { self == .clientWins ? .client : .server }
}
