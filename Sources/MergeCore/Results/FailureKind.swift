/// The kinds of failure of a push that differ in their HTTP status.
package enum FailureKind: Sendable, Hashable {
    /// Its rights do not allow it.
    case forbidden
    /// It was first sent when keys that are gone were in use.
    case expiredKey
    /// Any other reason, and every push that did not fail.
    case other
}
