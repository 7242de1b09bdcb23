package import MergeCore

/// A journal entry that was read.
package struct StoredEntry: Sendable, Hashable {
    /// The number of the entry, from 1.
    package let number: Int
    /// The time of the merge, in UTC.
    package let at: DateTime
    /// The sender of the push.
    package let sender: Sender
    /// The key of the push; nil if it had none.
    package let key: String?
    /// The edited record; nil for a push that changed no record.
    package let entry: JournalEntry?
    /// The content of a refused push that changed no record.
    package let bareEntry: [UInt8]?
    /// The complete push; nil if it was not refused.
    package let refused: RefusedBody?
    /// The end of the refused push; nil if it waits for an operator.
    package let settlement: RefusalSettlement?

    /// The time of a successful resend, as text in UTC; nil if there is none.
    package var replayed: String? { settlement?.resent }
}
