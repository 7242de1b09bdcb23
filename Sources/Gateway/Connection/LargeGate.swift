import MergeCore
import RecordStore

/// Limits the total size of large bodies in work, because decoding needs many times their length.
struct LargeGate: Sendable {
    private let permits: Permits
    /// The minimum size of a large body.
    private static let smallest = 262_144

    init(limit: Int) {
        permits = Permits(limit: limit)
    }

    var used: Int { permits.used }

    /// Waits for permission to decode a body; `leave` ends it.
    ///
    /// - Throws: a 503 `Problem` at the deadline.
    func enter(_ weight: Int, until deadline: ContinuousClock.Instant) async throws(Problem) {
        guard weight >= Self.smallest else { return }
        guard await permits.acquire(weight, until: deadline) else { throw ByteBudget.overloaded }
    }

    func leave(_ weight: Int) {
        if weight >= Self.smallest { permits.release(weight) }
    }
}
