/// The policy for an edit of a row that is gone.
package enum MissingPolicy: String, Sendable, Hashable, CaseIterable {
    case drop
    /// The row is inserted again, from the client's values and the journal's last values.
    case restore
    case reject
}
