/// The time that somebody has for what runs on a connection.
package struct Patience: Sendable, Hashable {
    /// The moment by which it has ended: what the database has not answered by then fails.
    package let end: ContinuousClock.Instant
    /// The moment from which the time counts that rows which others hold are waited for, in all.
    package let start: ContinuousClock.Instant

    /// - Parameter start: the moment at which whoever waits came.
    package init(until end: ContinuousClock.Instant, since start: ContinuousClock.Instant = .now) {
        self.end = end
        self.start = start
    }

    /// The time that a transaction has at least which others share: one whose time is nearly over must not cost them
    /// their connection.
    private static let least = Duration.milliseconds(250)

    /// Returns the patience of a transaction that several share: that of the first whose time is over.
    package static func shared(by all: [Patience]) -> Patience {
        let soonest = ContinuousClock.now.advanced(by: least)
        let end = all.map(\.end).min() ?? soonest
        return Patience(until: max(end, soonest), since: all.map(\.start).min() ?? .now)
    }
}
