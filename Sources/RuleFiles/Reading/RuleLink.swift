/// A column of a section and the root's column that it follows; nil where the short form leaves it open.
struct RuleLink: Sendable, Hashable {
    let column: Placed<String>
    let rootColumn: Placed<String>?
}
