/// The speed of a scan, and its limit.
struct ScanPace {
    private var budget: ScanBudget
    private var speed = ScanSpeed()

    init(rowsPerSecond: Int, now: ContinuousClock.Instant) {
        budget = ScanBudget(rowsPerSecond: rowsPerSecond, now: now)
    }

    /// Charges a step; see `ScanBudget`.
    ///
    /// - Returns: the earliest start of the next step.
    mutating func spend(
        rows: Int, differing: Int, found: Int, from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        speed.note(rows: rows, now: end)
        return budget.spend(rows: rows, differing: differing, found: found, from: begin, to: end)
    }

    /// Returns the rows per second since the last call.
    mutating func rowsPerSecond(now: ContinuousClock.Instant) -> Int? { speed.rowsPerSecond(now: now) }
}
