package import MergeCore

/// Bounds on what one request may ask of the database.
package struct MergeLimits: Sendable {
    /// Rows of all sections of one record.
    package var rowsPerRecord = 10_000
    /// Records on a page.
    package var pageSize = 500
    /// Records on a page where the request names no number.
    package var defaultPageSize = 100

    /// Pushes, or reads of single records, that may share one transaction; 1 gives each its own.
    package var coalesced = 32
    /// Shared transactions that run at once as long as none is held up.
    package var lanes = 1
    /// Pushes, and reads of single records, that wait for a transaction; more are turned away.
    package var waiting = 4_096
    /// Shared transactions that run at once where others are held up by rows that somebody else holds.
    package var maximumLanes = 6

    /// Reads of long records, and of pages of them, that run at once.
    package var longReads = 1
    /// Pushes of long bodies, or of long records, that run at once.
    package var longPushes = 2
    /// The time after which a long push lets another begin, since it may wait for rows that somebody else holds.
    package var longPatience = Duration.seconds(2)

    /// Bytes of the answer to a push; a push with a longer one is taken back.
    package var answerBytes = 32 << 20

    /// The work that the merge functions of one push may do.
    package var work = WorkBudget.push

    /// The defaults.
    package init() {}
}
