/// The outcome of one group or row, including unchanged groups.
package struct ExplainedOutcome: Sendable, Hashable {
    /// The outcome, whose `sides` are never nil and whose `written` is the value after the merge.
    package let outcome: Outcome
    /// A sentence that names the rule.
    package let why: String
}
