/// A section that has lost most of its rows since the last pass.
///
/// A restore creates tables before it fills them, so the scan reports the loss only after a delay.
struct EmptiedSection: Error, Equatable {
    private let name: String
    private let known: Int
    private let left: Int
    private let until: ContinuousClock.Instant
    let waits: Int

    /// Smaller losses are reported at once.
    static let least = 100
    /// The maximum delays.
    ///
    /// A restore fills a table faster.
    private static let mostWaits = 10

    init(_ name: String, of known: Int, left: Int, until: ContinuousClock.Instant, waits: Int) {
        self.name = name
        self.known = known
        self.left = left
        self.until = until
        self.waits = waits
    }

    static func hasLostMost(of known: Int, left: Int) -> Bool { known - left >= least && left * 2 < known }

    func isDue(now: ContinuousClock.Instant) -> Bool { until <= now }

    /// Returns true if the loss is reported now: no row has returned, or the delays are used up.
    func isFinal(left now: Int) -> Bool { now <= left || waits >= Self.mostWaits }

    /// The sentence for the log and `/readyz`.
    var sentence: String {
        "“\(name)” had \(known) rows and has \(left). The scan waits before it reports the others as deleted, because a "
            + "restore may be under way"
    }
}

/// Decides when a pass counts the remaining rows of a section.
///
/// A count is as expensive as an index scan, so the next count is due when the losses have doubled.
struct LossCount {
    private var losses = 0
    private var next = EmptiedSection.least

    mutating func isCountDue(adding more: Int) -> Bool {
        losses += more
        guard losses >= next else { return false }
        next = losses * 2
        return true
    }
}
