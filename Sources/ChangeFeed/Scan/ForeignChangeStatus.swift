package import MergeCore

/// The state of a source of foreign changes, for operators.
package struct ForeignChangeStatus: Sendable {
    /// True if this gateway scans.
    package var isScanning = false
    /// The age of the last complete check in seconds; nil before the first.
    package var lag: Int?
    /// The time in UTC since which foreign changes are detected; nil before the end of the first pass.
    package var since: DateTime?
    /// The duration of the last cycle.
    package var cycleMilliseconds: Int?
    /// The rows that are read in a second.
    package var rowsPerSecond: Int?
    /// The number of times that the lease moved to another gateway.
    package var takeovers = 0
    /// The cycles of this gateway.
    package var cycles = 0
    /// The foreign changes that this gateway has found.
    package var found = 0
    /// Changes that the row log should have contained.
    package var foundByScanOnly = 0
    /// The changes that this gateway has recorded from the row log.
    package var logged = 0
    /// True if this gateway follows the row log.
    package var followsLog = false
    /// The reason why the row log cannot be read; nil if it can, or the settings exclude it.
    package var logFault: String?
    /// True if the settings name the row log, so that its fault is trouble.
    package var isLogExpected = false
    /// The number of restarts after errors of the database or the journal.
    package var failures = 0
    /// The sections that cannot be scanned, because their rows have no usable key.
    package var unwatched: [String] = []
    /// The reason for which the scan stopped or skips a section, with its start; or nil.
    package var trouble: (text: String, since: ContinuousClock.Instant)?

    /// Makes the state before the first scan.
    package init() {}
}
