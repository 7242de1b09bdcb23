/// The decision on one group: what to call it and what to write.
package struct GroupDecision: Sendable, Hashable {
    /// The name of the decision.
    package let outcome: OutcomeKind
    /// The values that the group is to have; nil where nothing is written.
    package let written: [Value]?
    /// The client's wish met another change.
    package let isConflict: Bool
    /// The rule that decided.
    package let rule: RuleReference
    /// The places at which a merge function had to choose a side.
    package let parts: [MergedPart]
    /// The reason for which the rule's merge function did not decide; nil where it did or there is none.
    package let fallback: String?
    /// The kind of guard that decided; nil if none did.
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

    /// The three-way comparison of one group (Protocol.md, section 4).
    /// - Parameters:
    ///   - base: what the client last read; nil where it held none.
    ///   - edited: what the client wants, every field of the group.
    ///   - current: what the database holds, every field of the group.
    ///   - types: the types of the group's columns.
    ///   - digest: the digest of a group's values as they stand on the wire; asked for a base by digest,
    ///     and where what the database holds is foreign to its column.
    ///   - budget: the work that a merge function may do; beyond it `on-conflict` decides the group as a whole.
    package static func decide(
        base: GroupState?, edited: [Value], current: [Value], group: Group, types: [ColumnType],
        digest: ([Value]) -> [UInt8], spending budget: inout WorkBudget
    ) -> GroupDecision {
        // An edit that changes nothing is no wish, whatever others did meanwhile.
        if let base, base.matches(edited, digest) { return GroupDecision(.unchanged) }
        // Both sides came to the same values: nothing is left to write, and nobody lost anything. But two who both count
        // from 5 to 6 have counted two.
        if edited == current, !addsUp(base, to: edited, in: group, types: types) { return GroupDecision(.already) }
        // Only the client changed the group.
        if let base, base.matches(current, digest) { return GroupDecision(.applied, written: edited) }
        if let base, base.isShown(by: current, types, digest) {
            return GroupDecision(.applied, written: base.leaving(current, but: edited))
        }
        // All three differ, or the client held nothing and finds something else.
        guard let merge = group.merge else { return byPolicy(group.onConflict, edited) }
        let meeting = Meeting(
            base: base, edited: edited, current: current, types: types, favouring: group.onConflict.value.favoured)
        switch merge.value.settle(meeting, spending: &budget) {
        case .side(.client):
            return GroupDecision(.clientWon, written: edited, isConflict: true, rule: merge.rule)
        case .side(.server):
            return GroupDecision(.serverWon, isConflict: true, rule: merge.rule)
        case .combined(_, let parts) where !parts.isEmpty && group.onConflict.value == .reject:
            return GroupDecision(.rejected, isConflict: true, rule: group.onConflict.rule, parts: parts)
        case .combined(let values, let parts):
            return GroupDecision(.combined, written: values, isConflict: true, rule: merge.rule, parts: parts)
        case .undecided(let reason):
            return byPolicy(group.onConflict, edited, fallback: "merge: \(merge.value.name) did not run: \(reason)")
        }
    }

    /// The three-way comparison of one group that has the budget of a whole push to itself.
    package static func decide(
        base: GroupState?, edited: [Value], current: [Value], group: Group, types: [ColumnType],
        digest: ([Value]) -> [UInt8]
    ) -> GroupDecision {
        var budget = WorkBudget.push
        return decide(
            base: base, edited: edited, current: current, group: group, types: types, digest: digest, spending: &budget)
    }

    /// Returns true where the client's edit is an amount that comes on top of others' (`merge: add`).
    private static func addsUp(
        _ base: GroupState?, to edited: [Value], in group: Group, types: [ColumnType]
    ) -> Bool {
        guard case .add? = group.merge?.value, case .values(let held)? = base, let type = types.first, type.isNumber
        else { return false }
        return (held + edited).allSatisfy { !$0.isNull && !type.isForeign($0) }
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
    /// The side that stands where both changed the same part of a value; under `reject` nothing is written at all.
    var favoured: MergeSide { self == .clientWins ? .client : .server }
}
