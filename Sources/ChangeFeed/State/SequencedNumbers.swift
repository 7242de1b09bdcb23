/// The numbers of rows of `pending` that have revisions, by the time at which they got them.
///
/// Rows that are deleted stay in the way of a search until the server has purged them, which a long reader holds up. So
/// most looks begin behind what got its revisions a minute ago; every few seconds one begins at the front, for what a
/// transaction leaves that was open for longer. Pure.
struct SequencedNumbers: Sendable {
    private var marks: [(at: ContinuousClock.Instant, number: Int)] = []
    /// The number up to which all got their revisions a minute ago, or are of transactions that were open for longer.
    private(set) var floor = 0
    private var lastFull: ContinuousClock.Instant?

    private static let age = Duration.seconds(60)
    private static let fullEvery = Duration.seconds(5)
    private static let spacing = Duration.seconds(1)

    /// Notes that the rows up to a number that were there have revisions.
    mutating func note(_ number: Int, now: ContinuousClock.Instant) {
        if let last = marks.last, now - last.at < Self.spacing { return }
        marks.append((now, number))
    }

    /// Returns the number behind which the next look begins.
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
