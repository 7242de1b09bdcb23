struct RuleField: Sendable, Hashable {
    let name: Placed<String>
    let column: Placed<String>
    let type: Placed<String>?
    let separator: Placed<String>?
    let references: Placed<String>?
    /// True if the journal stores keyed digests instead of the values.
    var isPrivate = false
    /// The stored values for true and false.
    var values: RuleBooleanCode?
    var formerly: [Placed<String>] = []
}

/// `values` of a field with `type: boolean`, as written.
struct RuleBooleanCode: Sendable, Hashable {
    let place: Place
    let yes: Placed<RuleConstant>
    let no: Placed<RuleConstant>
}
