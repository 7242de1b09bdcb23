package import MergeCore
import MergeWire
package import RecordStore

/// A page of journal entries, the newest last.
package struct JournalPage: Sendable {
    /// The entries, up to the limit.
    package let entries: [StoredEntry]
    /// True if there are more: older ones if the page has the newest, else newer ones.
    package let hasMore: Bool
    /// True if the page has the newest entries, not those after a number.
    package let isNewest: Bool
    /// The time of the requested record's last change, if it was a foreign change; else nil.
    package var lastForeignChange: DateTime?

    /// The page in the form of `GET /v1/journal`.
    package var json: [UInt8] {
        JournalEncoder.page(entries.map(\.shown), next: hasMore && !isNewest ? entries.last?.number : nil)
    }
}
