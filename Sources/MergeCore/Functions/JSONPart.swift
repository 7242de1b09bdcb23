/// A member that both sides changed differently, with the result.
package struct JSONPart: Sendable, Hashable {
    /// JSON Pointer (RFC 6901) into the merged value.
    ///
    /// The pointer of an item contains its index there, or the index that it would have if it is removed.
    package let path: String
    /// The member that the client last read, if any.
    package let base: JSONTree?
    /// The member that the client wants, or nil if the client removed it.
    package let edited: JSONTree?
    /// The member in the database, if any.
    package let current: JSONTree?
    /// The favoured side's member, which is the result, or nil if that side removed it.
    package let written: JSONTree?
}
