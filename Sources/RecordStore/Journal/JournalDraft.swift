/// Everything that one push leaves in the journal.
package struct JournalDraft: Sendable, Hashable {
    /// The sender of the push.
    package let sender: Sender
    /// The key of the push; nil where it has none.
    package let key: String?
    /// SHA-256 of the sender and the key.
    package let name: [UInt8]?
    /// The answer to keep; nil where the push runs again when it is repeated.
    package let answer: KeptAnswer?
    /// The push whole, where it was refused.
    package let refused: RefusedBody?
    /// The entries of the records that it edited.
    package let entries: [JournalEntry]

    /// Makes a draft of what one push leaves.
    package init(
        sender: Sender, key: String?, name: [UInt8]?, answer: KeptAnswer?, refused: RefusedBody?,
        entries: [JournalEntry]
    ) {
        self.sender = sender
        self.key = key
        self.name = name
        self.answer = answer
        self.refused = refused
        self.entries = entries
    }

    /// The push leaves nothing.
    package var isEmpty: Bool { name == nil && refused == nil && entries.isEmpty }
}
