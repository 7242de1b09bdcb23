/// The values that the client held when it began to edit a group.
package enum Base: Sendable, Hashable {
    case values(FieldValues)
    /// The SHA-256 of the canonical JSON of the values (RFC 8785).
    case digest([UInt8])
}
