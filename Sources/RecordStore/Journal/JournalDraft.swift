/// Everything that one push leaves in the journal.
package struct JournalDraft: Sendable, Hashable {
    package let sender: Sender
    package let key: String?
    /// SHA-256 of the sender and the key.
    package let name: [UInt8]?
    package let answer: KeptAnswer?
    package let refused: RefusedBody?
    package let entries: [JournalEntry]

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

    package var isEmpty: Bool { name == nil && refused == nil && entries.isEmpty }
}
