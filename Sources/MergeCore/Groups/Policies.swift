/// The policy that decides a conflict in a group.
package enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case clientWins = "client-wins"
    case serverWins = "server-wins"
    case reject
}

/// The policy for an edit to a row that is gone.
package enum MissingPolicy: String, Sendable, Hashable, CaseIterable {
    case drop
    /// The row is inserted again, from what the client sent and what is last known of it.
    case restore
    case reject
}

/// The policy for the deletion of a row that others changed.
package enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case delete
    case keep
    case reject
}
