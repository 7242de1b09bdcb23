/// The policy for the deletion of a row that others changed.
package enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case delete
    case keep
    case reject
}
