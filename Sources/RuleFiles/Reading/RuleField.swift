struct RuleField: Sendable, Hashable {
    let name: Placed<String>
    let column: Placed<String>
    let type: Placed<String>?
    let separator: Placed<String>?
    let references: Placed<String>?
    /// True if the journal stores keyed digests instead of the values.
    var isPrivate = false
    var formerly: [Placed<String>] = []
}
