/// The result of a merge of JSON values.
package struct JSONMergeResult: Sendable, Hashable {
    /// The merged value.
    package let tree: JSONTree
    /// The members that both sides changed differently, in the order in which they were met.
    package let parts: [JSONPart]
}

/// Bounds on the parts of one merge, so that no answer is much longer than what was merged.
package enum PartLimits {
    /// The most parts of one value.
    package static let count = 1_000
    /// The most bytes of the pointers of all parts of one value: each repeats the names above it.
    package static let pathBytes = 65_536
}

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
