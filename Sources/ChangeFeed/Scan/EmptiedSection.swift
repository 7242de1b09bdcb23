/// A section that has lost most of its rows since the last pass.
///
/// A restore makes tables first and fills them later. So the rows are reported as gone only if they are still gone after
/// a while.
struct EmptiedSection: Error {
    private let name: String
    private let known: Int
    private let left: Int
    private let until: ContinuousClock.Instant
    /// The number of times that the section has waited.
    let waits: Int

    /// Fewer rows than these are reported at once.
    static let least = 100
    /// A table that fills this slowly is not being restored.
    private static let mostWaits = 10

    init(_ name: String, of known: Int, left: Int, until: ContinuousClock.Instant, waits: Int) {
        self.name = name
        self.known = known
        self.left = left
        self.until = until
        self.waits = waits
    }

    /// Returns true if a section has lost more than half of its rows.
    static func hasLostMost(of known: Int, left: Int) -> Bool { known - left >= least && left * 2 < known }

    /// Returns true once the section is to be looked at again.
    func isDue(now: ContinuousClock.Instant) -> Bool { until <= now }

    /// Returns true if the rows are reported as gone now: none came back meanwhile.
    func isFinal(left now: Int) -> Bool { now <= left || waits >= Self.mostWaits }

    /// Says what happens, for the log and `/readyz`.
    var sentence: String {
        "“\(name)” had \(known) rows and has \(left). The scan waits before it reports the others as deleted, because a "
            + "restore may be under way"
    }
}

/// Counts the rows that a pass found gone, and says when to count the rows that are left.
///
/// Counting is as expensive as a query over an index, so the next one is due when the losses have doubled.
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
