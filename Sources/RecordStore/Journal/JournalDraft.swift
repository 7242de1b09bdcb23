/// The journal rows of one push.
package struct JournalDraft: Sendable, Hashable {
    /// The sender of the push.
    package let sender: Sender
    /// The key of the push; nil if it has none.
    package let key: String?
    /// SHA-256 of the sender and the key.
    package let name: [UInt8]?
    /// The stored answer; nil if the push runs again when it is repeated.
    package let answer: KeptAnswer?
    /// The complete push, if it was refused.
    package let refused: RefusedBody?
    /// The entries of the edited records.
    package let entries: [JournalEntry]
    /// The content of the first row, if the push was refused and has no entries.
    package let bareEntry: [UInt8]?

    /// Makes the draft of one push.
    package init(
        sender: Sender, key: String?, name: [UInt8]?, answer: KeptAnswer?, refused: RefusedBody?,
        entries: [JournalEntry], bareEntry: [UInt8]? = nil
    ) {
        self.sender = sender
        self.key = key
        self.name = name
        self.answer = answer
        self.refused = refused
        self.entries = entries
        self.bareEntry = bareEntry
    }

    /// True if the push writes no row.
    package var isEmpty: Bool { name == nil && refused == nil && entries.isEmpty }
}
