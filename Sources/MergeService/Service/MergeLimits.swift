package import MergeCore

/// Limits of a request's load on the database.
package struct MergeLimits: Sendable {
    /// The most rows of all sections of one record.
    package var rowsPerRecord = 10_000
    /// The most records on a page.
    package var pageSize = 500
    /// The records on a page if the request contains no limit.
    package var defaultPageSize = 100

    /// The most pushes or reads of single records that share a transaction; 1 means that none do.
    package var coalesced = 32
    /// The most concurrent shared transactions if none is stalled.
    package var lanes = 1
    /// The most waiting pushes and reads; more are refused.
    package var waiting = 4_096
    /// The most concurrent shared transactions if some wait for locked rows.
    package var maximumLanes = 6

    /// The most concurrent reads of long records or of pages with them.
    package var longReads = 1
    /// The most concurrent pushes with long bodies or long records.
    package var longPushes = 2
    /// The time after which a long push releases its permit, because it may wait for locked rows.
    package var longPatience = Duration.seconds(2)

    /// The most bytes of the answer to a push; a longer answer rolls the push back.
    package var answerBytes = 32 << 20

    /// The work that the merge functions of one push may do.
    package var work = WorkBudget.push

    /// Creates the default limits.
    package init() {}
}
