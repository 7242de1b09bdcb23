import MergeCore

/// Limits a scan to the operator's rows per second.
struct ScanBudget {
    private let rowsPerSecond: Double
    private var free: ContinuousClock.Instant
    /// The usual time of a row in earlier steps.
    private var usual: Double?

    /// The cost of a changed row, in rows: its digest is written and its record is looked up.
    static let differing = 5
    /// Extra cost of a foreign change, in rows, so that pushes do not starve.
    static let found = 10
    /// The seconds from which an unusually slow step indicates other load on the database.
    private static let slow = 0.02

    init(rowsPerSecond: Int, now: ContinuousClock.Instant) {
        self.rowsPerSecond = Double(max(1, rowsPerSecond))
        free = now
    }

    /// Charges a step.
    ///
    /// - Parameters:
    ///   - differing: the rows that differ from their digests.
    ///   - found: the changes that were stored.
    /// - Returns: the earliest start of the next step.
    mutating func spend(
        rows: Int, differing: Int, found: Int, from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        let cost = Double(max(1, rows + differing * Self.differing + found * Self.found)) / rowsPerSecond
        let took = begin.duration(to: end).seconds
        let perRow = took / Double(max(1, rows))
        var factor = 1.0
        if differing == 0, rows > 100 {
            if let usual, took > Self.slow, perRow > 3 * usual { factor = 2 }
            usual = usual.map { $0 * 0.95 + min(perRow, 3 * $0) * 0.05 } ?? perRow
        }
        free = max(free, begin).advanced(by: .clamped(seconds: cost * factor))
        return free
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
