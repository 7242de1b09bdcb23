/// The deadlines of an operation on a connection.
package struct Patience: Sendable, Hashable {
    /// The deadline of all its statements.
    package let end: ContinuousClock.Instant
    /// The beginning of the total time that it may wait for locked rows.
    package let start: ContinuousClock.Instant

    /// - Parameter start: the moment at which the caller began to wait.
    package init(until end: ContinuousClock.Instant, since start: ContinuousClock.Instant = .now) {
        self.end = end
        self.start = start
    }

    /// The least time of a shared transaction.
    ///
    /// A push whose deadline is near must not cost other pushes their connection.
    private static let least = Duration.milliseconds(250)

    /// Returns the patience of a shared transaction, which has the earliest deadline of all.
    package static func shared(by all: [Patience]) -> Patience {
        let soonest = ContinuousClock.now.advanced(by: least)
        let end = all.map(\.end).min() ?? soonest
        return Patience(until: max(end, soonest), since: all.map(\.start).min() ?? .now)
    }
}
