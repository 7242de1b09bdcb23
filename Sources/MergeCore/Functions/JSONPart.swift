/// A member that both sides changed differently, and what became of it.
package struct JSONPart: Sendable, Hashable {
    /// JSON Pointer (RFC 6901) into the merged value.
    ///
    /// The pointer of an item goes by its place there, or by the place that it would have had if it is gone.
    package let path: String
    /// The member as the client last read it; nil where it was absent.
    package let base: JSONTree?
    /// The member as the client wants it; nil where it removed it.
    package let edited: JSONTree?
    /// The member as the database holds it; nil where it is gone.
    package let current: JSONTree?
    /// The favoured side's member, which stands; nil where that side removed it.
    package let written: JSONTree?
}
