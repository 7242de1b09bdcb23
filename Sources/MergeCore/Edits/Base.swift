/// The values of a group that the client last read.
package enum Base: Sendable, Hashable {
    case values(FieldValues)
    /// The SHA-256 of the canonical JSON of the values (RFC 8785).
    case digest([UInt8])
}
