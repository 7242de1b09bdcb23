/// What decides a conflict in a group.
package enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case clientWins = "client-wins"
    case serverWins = "server-wins"
    case reject
}

/// What becomes of an edit to a row that is gone.
package enum MissingPolicy: String, Sendable, Hashable, CaseIterable {
    case drop
    case reject
}

/// What becomes of the deletion of a row that others changed.
package enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case delete
    case keep
    case reject
}
