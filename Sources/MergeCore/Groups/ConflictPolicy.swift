/// The policy for a conflict in a group.
package enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case clientWins = "client-wins"
    case serverWins = "server-wins"
    case reject
}
