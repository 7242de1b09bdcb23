package import MergeCore

/// An entry as it is read again.
package struct StoredEntry: Sendable, Hashable {
    /// The number of the entry, counted from 1.
    package let number: Int
    /// The moment of the merge, in UTC.
    package let at: DateTime
    /// The sender of the push.
    package let sender: Sender
    /// The key of the push; nil where it had none.
    package let key: String?
    /// nil for a push that changed no record.
    package let entry: JournalEntry?
    /// The push whole, where it was refused; nil where it was not.
    package let refused: RefusedBody?
    /// The time at which the refused push was sent again with success, as text in UTC; nil where it was not.
    package let replayed: String?
}
