import MergeCore

struct RuleGroup: Sendable, Hashable {
    let name: Placed<String>
    let fields: [RuleField]
    let onConflict: Placed<ConflictPolicy>?
    let merge: Placed<RuleMerge>?
}
