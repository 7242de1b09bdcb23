/// A list of edits that runs as one transaction.
package struct Push: Sendable, Hashable {
    package let key: String?
    package let atomicity: Atomicity
    package let edits: [Edit]

    package init(key: String?, atomicity: Atomicity, edits: [Edit]) {
        self.key = key
        self.atomicity = atomicity
        self.edits = edits
    }
}
