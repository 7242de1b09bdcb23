package import MergeCore

/// The scan as operators see it.
package struct ScanStatus: Sendable {
    /// This gateway is the one that scans.
    package var isScanning = false
    /// The age of what is known of other programs' changes, in seconds; nil before the first pass has ended.
    package var lag: Int?
    /// The time from which on changes of other programs are noticed, in UTC; nil before the first pass has ended.
    package var since: DateTime?
    /// The time that the last cycle took.
    package var cycleMilliseconds: Int?
    /// Rows that were read in a second.
    package var rowsPerSecond: Int?
    /// The number of times that another gateway took the scan over.
    package var takeovers = 0
    /// Cycles that this gateway has been through.
    package var cycles = 0
    /// Changes of other programs that this gateway has found.
    package var found = 0
    /// The number of times that it had to begin anew, because the database or the journal could not be used.
    package var failures = 0
    /// Sections that cannot be scanned, because their rows cannot be told apart.
    package var unwatched: [String] = []
    /// The reason for which it stands still, or leaves a section out, and since when; nil where nothing is wrong.
    package var trouble: (text: String, since: ContinuousClock.Instant)?

    /// Describes a scan that has not begun.
    package init() {}
}
