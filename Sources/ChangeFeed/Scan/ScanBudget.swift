import MergeCore

/// Keeps a scan to the rows a second that the operator allows.
///
/// Pure.
struct ScanBudget {
    private let rowsPerSecond: Double
    private var free: ContinuousClock.Instant
    /// The usual time of a row, of steps until now.
    private var usual: Double?

    /// Rows that one which differs from its mark counts for: its mark is written anew, and its record looked up, so that
    /// what pushes have written to a table is taken note of without taking much from them.
    static let differing = 5
    /// Rows that one which is told as a stranger's change counts for besides, so that pushes get in between.
    static let found = 10
    /// A step that takes longer than this, and much longer than usual, says that the database has other work.
    private static let slow = 0.02

    init(rowsPerSecond: Int, now: ContinuousClock.Instant) {
        self.rowsPerSecond = Double(max(1, rowsPerSecond))
        free = now
    }

    /// Notes a step.
    ///
    /// - Parameters:
    ///   - rows: what was read.
    ///   - differing: those of them that differ from their marks.
    ///   - found: changes that were filed.
    ///   - begin: when the step began.
    /// - Returns: the moment before which the next step must not begin.
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
    /// The time in seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
