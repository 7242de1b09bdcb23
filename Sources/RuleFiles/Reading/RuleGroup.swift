import MergeCore

struct RuleGroup: Sendable, Hashable {
    let name: Placed<String>
    let fields: [RuleField]
    let onConflict: Placed<ConflictPolicy>?
    let merge: Placed<RuleMerge>?
    /// The values that may follow others.
    var transitions: Placed<[RuleTransition]>?
    /// Earlier names.
    var formerly: [Placed<String>] = []
}

/// A value of a group and those that may follow it.
struct RuleTransition: Sendable, Hashable {
    let from: Placed<RuleConstant>
    let to: [Placed<RuleConstant>]
}
