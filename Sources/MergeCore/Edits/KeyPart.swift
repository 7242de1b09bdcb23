/// One part of a key that is not settled yet.
package enum KeyPart: Sendable, Hashable {
    case value(Value)
    /// The key of a row that this push creates.
    case temporary(TemporaryID)
    /// The database numbers it (AUTO_INCREMENT).
    case generated
}
