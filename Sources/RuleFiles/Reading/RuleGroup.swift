import MergeCore

struct RuleGroup: Sendable, Hashable {
    let name: Placed<String>
    let fields: [RuleField]
    let onConflict: Placed<ConflictPolicy>?
    let merge: Placed<RuleMerge>?
    /// The allowed next values for each value.
    var transitions: Placed<[RuleTransition]>?
    var formerly: [Placed<String>] = []
}

/// A value of a group and its allowed next values.
struct RuleTransition: Sendable, Hashable {
    let from: Placed<RuleConstant>
    let to: [Placed<RuleConstant>]
}
