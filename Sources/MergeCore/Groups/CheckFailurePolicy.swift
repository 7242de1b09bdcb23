/// The policy for a failed check of the rules.
package enum CheckFailurePolicy: String, Sendable, Hashable, CaseIterable {
    case reject
    /// The groups of the check's fields keep their current values, and the check runs again.
    case serverWins = "server-wins"
}
