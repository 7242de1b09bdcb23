package import MergeCore
package import RecordStore

/// The findings and the results of a restore.
package struct RestoreReport: Sendable {
    /// One copy of the journal.
    package struct Copy: Sendable {
        /// The number of its entries and keys, and the newest entry.
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
        /// The problem that prevented merging it again; nil if it was merged or not requested.
        package var problem: String?
    }

    /// The current journal.
    package let restored: Copy
    /// The newer journal; nil if none was named.
    package var newer: Copy?
    /// The number of rows copied from the newer journal.
    package var copiedRows = 0
    /// The pushes that the data lack.
    package var missing: [Push] = []
    /// The pushes whose rows are neither as before nor as afterwards.
    package var unclear: [Push] = []
    /// The number of pushes that were merged again.
    package var mergedAgain = 0
    /// Statements that raise the counters of generated keys past all assigned keys.
    package var counters: [String] = []
    /// The new feed; nil in a preview.
    package var feed: String?
}
