import MergeCore
import RecordStore

/// The events of a scan since its last report.
struct ScanNews {
    /// The reason for which a section was skipped.
    var trouble: String?
    var cycles = 0
    /// The foreign changes that were found.
    var found = 0
    /// Those of sections whose changes the row log should have contained.
    var foundByScanOnly = 0
    /// The state in the journal, if it was read.
    var state: ScanState?
    /// The time since which foreign changes are detected.
    var since: DateTime?
    var hasAlteredTable = false
    /// Sentences for the log.
    var warnings: [String] = []
}
