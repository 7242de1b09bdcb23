/// A list of edits that runs as one transaction.
package struct Push: Sendable, Hashable {
    /// The idempotency key, if any.
    package let key: String?
    /// The unit that is applied completely or not at all.
    package let atomicity: Atomicity
    /// The edits in the order of the request.
    package let edits: [Edit]
    /// Temporary ids of rows that an earlier push of the same request failed to create.
    package let refused: Set<TemporaryID>

    /// Creates a push.
    package init(key: String?, atomicity: Atomicity, edits: [Edit], refused: Set<TemporaryID> = []) {
        self.refused = refused
        self.key = key
        self.atomicity = atomicity
        self.edits = edits
    }
}
