/// A list of edits that runs as one transaction.
package struct Push: Sendable, Hashable {
    /// The key under which the push is answered once; nil where it has none.
    package let key: String?
    /// The unit that is applied whole or not at all.
    package let atomicity: Atomicity
    /// The edits in the order in which they were sent.
    package let edits: [Edit]
    /// Temporary ids of rows that an earlier push of the same request would have created, and did not.
    package let refused: Set<TemporaryID>

    /// Makes a push of edits.
    package init(key: String?, atomicity: Atomicity, edits: [Edit], refused: Set<TemporaryID> = []) {
        self.refused = refused
        self.key = key
        self.atomicity = atomicity
        self.edits = edits
    }
}
