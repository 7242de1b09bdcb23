/// The policy for the deletion of a row that has changed since.
package enum DeleteConflictPolicy: String, Sendable, Hashable, CaseIterable {
    case delete
    case keep
    case reject
}
