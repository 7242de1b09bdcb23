import MergeCore
import RecordStore

/// Lets so many bytes of large bodies be worked on at once: what is made of a body takes many times its length.
struct LargeGate: Sendable {
    private let permits: Permits
    /// Bodies that are shorter pass freely.
    private static let smallest = 262_144

    init(limit: Int) {
        permits = Permits(limit: limit)
    }

    /// Bytes that are worked on at the moment.
    var used: Int { permits.used }

    /// Waits until there is room for a body; `leave` gives it back.
    ///
    /// - Throws: a 503 `Problem` where there is none before the deadline.
    func enter(_ weight: Int, until deadline: ContinuousClock.Instant) async throws(Problem) {
        guard weight >= Self.smallest else { return }
        guard await permits.acquire(weight, until: deadline) else { throw ByteBudget.overloaded }
    }

    /// Gives back the room that `enter` took.
    func leave(_ weight: Int) {
        if weight >= Self.smallest { permits.release(weight) }
    }
}
