/// The numbers of sequenced rows of `pending`, with the time of their sequencing.
///
/// Deleted rows slow a search until the server purges them, and a long read delays the purge. So most checks skip rows
/// that were sequenced a minute ago. Every few seconds a check reads all rows, to find those of long transactions.
struct SequencedNumbers: Sendable {
    private var marks: [(at: ContinuousClock.Instant, number: Int)] = []
    /// The number up to which rows were sequenced a minute ago, or belong to longer transactions.
    private(set) var floor = 0
    private var lastFull: ContinuousClock.Instant?

    private static let age = Duration.seconds(60)
    private static let fullEvery = Duration.seconds(5)
    private static let spacing = Duration.seconds(1)

    mutating func note(_ number: Int, now: ContinuousClock.Instant) {
        if let last = marks.last, now - last.at < Self.spacing { return }
        marks.append((now, number))
    }

    /// Returns the number after which the next check begins.
    mutating func start(now: ContinuousClock.Instant) -> Int {
        while let first = marks.first, now - first.at > Self.age {
            floor = max(floor, first.number)
            marks.removeFirst()
        }
        guard let last = lastFull, now - last < Self.fullEvery else {
            lastFull = now
            return 0
        }
        return floor
    }
}
