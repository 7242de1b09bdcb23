import MergeCore

/// A check as written.
struct RuleCheck: Sendable, Hashable {
    let name: Placed<String>
    let sql: Placed<String>
    let fields: [Placed<String>]
    let onFailure: CheckFailurePolicy
}
