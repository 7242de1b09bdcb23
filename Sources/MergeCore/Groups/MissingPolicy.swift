/// The policy for an edit to a row that is gone.
package enum MissingPolicy: String, Sendable, Hashable, CaseIterable {
    case drop
    /// The row is inserted again, from what the client sent and what is last known of it.
    case restore
    case reject
}
