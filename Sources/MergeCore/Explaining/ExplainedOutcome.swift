/// The outcome of one group or row, groups that nobody changed among them.
package struct ExplainedOutcome: Sendable, Hashable {
    /// Its `sides` are always there; `written` is what stands after the merge.
    package let outcome: Outcome
    /// A sentence that names the rule.
    package let why: String
}
