import MergeCore

/// Counts rows by the second.
///
/// Pure.
struct ScanSpeed {
    private var rows = 0
    private var since: ContinuousClock.Instant?

    /// Notes rows that were read.
    mutating func note(rows count: Int, now: ContinuousClock.Instant) {
        if since == nil { since = now }
        rows += count
    }

    /// Returns the rows of a second since this was asked last.
    mutating func rowsPerSecond(now: ContinuousClock.Instant) -> Int? {
        defer {
            rows = 0
            since = now
        }
        guard let since, now > since else { return nil }
        return Int(clamping: Double(rows) / (now - since).seconds)
    }
}
