/// A column and the operator's SQL for it.
struct RuleAssignment: Sendable, Hashable {
    let column: Placed<String>
    let sql: Placed<String>
}
