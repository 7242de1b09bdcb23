package import MergeCore
package import RecordStore

/// The findings of a restore, and what was done.
package struct RestoreReport: Sendable {
    /// One copy of the journal.
    package struct Copy: Sendable {
        /// The number of its entries and keys, and the newest of them.
        package let summary: JournalSummary
        /// The highest revision.
        package let revision: Int
    }

    /// A merged push of the newer journal.
    package struct Push: Sendable {
        /// The number of the entry.
        package let number: Int
        /// The time of the merge, in UTC.
        package let at: DateTime
        /// The name of the sender; empty without tokens.
        package let who: String
        /// The record, as `resource/key`.
        package let record: String
        /// The sections and groups, as `section.group`.
        package let groups: [String]
        /// The problem because of which it was not merged again; nil if it was, or if that was not requested.
        package var problem: String?
    }

    /// The journal that is there now.
    package let restored: Copy
    /// The newer journal; nil if none was given.
    package var newer: Copy?
    /// The rows that were copied from the newer journal.
    package var copiedRows = 0
    /// The pushes that the data lack.
    package var missing: [Push] = []
    /// The pushes of which the rows are neither as before nor as afterwards.
    package var unclear: [Push] = []
    /// The number of pushes that were merged again.
    package var mergedAgain = 0
    /// Statements that raise the counters of generated keys past all keys that were ever given out.
    package var counters: [String] = []
    /// The new feed; nil in a preview.
    package var feed: String?
}
