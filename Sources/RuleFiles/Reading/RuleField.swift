struct RuleField: Sendable, Hashable {
    let name: Placed<String>
    let column: Placed<String>
    let type: Placed<String>?
    let separator: Placed<String>?
    let references: Placed<String>?
    /// The journal keeps no values of it.
    var isPrivate = false
    /// Earlier names.
    var formerly: [Placed<String>] = []
}
