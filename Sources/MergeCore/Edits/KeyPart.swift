/// One part of a key that may still be unknown.
package enum KeyPart: Sendable, Hashable {
    case value(Value)
    /// The key of a row that this push creates.
    case temporary(TemporaryID)
    /// One part of the key of a row that this push creates.
    case created(TemporaryID, part: Int)
    /// The database or the gateway numbers the part.
    case generated
}
