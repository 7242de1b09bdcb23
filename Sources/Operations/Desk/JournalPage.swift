package import MergeCore
import MergeWire
package import RecordStore

/// Some entries of the journal, the newest last.
package struct JournalPage: Sendable {
    /// At most as many as were asked for.
    package let entries: [StoredEntry]
    /// There are more: older ones where these are the newest, else newer ones.
    package let hasMore: Bool
    /// They are the newest that there are, not those after a number.
    package let isNewest: Bool
    /// The moment at which it was noticed that another program had changed the record that is asked for; nil where a
    /// push did so last, or nobody has noticed anything.
    package var lastForeignChange: DateTime?

    /// The page as `GET /v1/journal` answers it.
    package var json: [UInt8] {
        JournalEncoder.page(entries.map(\.shown), next: hasMore && !isNewest ? entries.last?.number : nil)
    }
}
