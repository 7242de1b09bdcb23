import MergeCore

struct ScanSpeed {
    private var rows = 0
    private var since: ContinuousClock.Instant?

    mutating func note(rows count: Int, now: ContinuousClock.Instant) {
        if since == nil { since = now }
        rows += count
    }

    /// Returns the rows per second since the last call.
    mutating func rowsPerSecond(now: ContinuousClock.Instant) -> Int? {
        defer {
            rows = 0
            since = now
        }
        guard let since, now > since else { return nil }
        return Int(clamping: Double(rows) / (now - since).seconds)
    }
}
