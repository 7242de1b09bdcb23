import MergeCore
import MergeService

/// Lets so many bytes of large bodies be worked on at once: what is made of a body takes many times its length.
struct LargeGate: Sendable {
    private let turns: Turns
    /// Bodies that are shorter pass freely.
    private static let smallest = 262_144

    init(limit: Int) {
        turns = Turns(limit: limit)
    }

    /// Bytes that are worked on at the moment.
    var used: Int { turns.used }

    /// Runs `work` on a body once there is room for it.
    ///
    /// - Throws: a 503 `Problem` where there is none before the deadline, and what `work` throws.
    @discardableResult
    func pass<Answer>(
        _ weight: Int, until deadline: ContinuousClock.Instant, _ work: () async throws -> Answer
    ) async throws -> Answer {
        guard weight >= Self.smallest else { return try await work() }
        guard await turns.enter(weight, until: deadline) else { throw ByteBudget.overloaded }
        defer { turns.leave(weight) }
        return try await work()
    }
}
