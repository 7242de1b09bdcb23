/// The kinds of a failed push that have different HTTP statuses.
package enum FailureKind: Sendable, Hashable {
    /// The client has no right to make the push.
    case forbidden
    /// The push was first sent at a time whose keys no longer exist.
    case expiredKey
    /// Any other failure, and every push that did not fail.
    case other
}
