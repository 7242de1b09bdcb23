/// One part of a key that may still be unknown.
package enum KeyPart: Sendable, Hashable {
    case value(Value)
    /// The key of a row that this push creates.
    case temporary(TemporaryID)
    /// The database numbers the part (AUTO_INCREMENT).
    case generated
}
