package import MergeCore

/// An entry as it is read again.
package struct StoredEntry: Sendable, Hashable {
    package let number: Int
    package let at: DateTime
    package let sender: Sender
    package let key: String?
    /// nil for a push that changed no record.
    package let entry: JournalEntry?
    package let refused: RefusedBody?
    /// When the refused push was sent again with success, as text in UTC; nil where it was not.
    package let replayed: String?
}
