/// A column of a section and the root's column that it follows, or nil in the short form.
struct RuleLink: Sendable, Hashable {
    let column: Placed<String>
    let rootColumn: Placed<String>?
}
