/// The policy where a check of the rules fails.
package enum CheckFailurePolicy: String, Sendable, Hashable, CaseIterable {
    /// The whole push is refused.
    case reject
    /// The groups of the check's fields keep what the database holds, and the check runs again.
    case serverWins = "server-wins"
}
