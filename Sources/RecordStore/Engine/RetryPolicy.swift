/// Retries transactions that met another transaction or a dead connection and committed nothing.
///
/// This is the only place with retries, so that two layers never multiply them.
package struct RetryPolicy {
    /// The highest number of collisions with other transactions.
    private static let maximumCollisions = 20
    /// The highest number of runs on dead connections: a restart of the server ends all connections of a pool.
    private static let maximumConnections = 3

    /// Runs `body`, and retries it until the deadline if its error permits.
    ///
    /// - Throws: the error of the last run: `busy` after collisions, `unavailable` after dead connections.
    package static func run<Answer>(
        until deadline: ContinuousClock.Instant, _ body: () async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        var policy = RetryPolicy()
        while true {
            do throws(StoreError) {
                return try await body()
            } catch {
                try await policy.pause(after: error, until: deadline)
            }
        }
    }

    package init() {}

    /// Counts a failed run, and waits until the next one.
    ///
    /// - Throws: the error for the caller if there is no next run.
    package mutating func pause(
        after error: StoreError, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        guard let pause = pause(after: error.kind), ContinuousClock.now < deadline else { throw final(error) }
        if pause > .zero { try? await Task.sleep(for: pause) }
        if Task.isCancelled { throw StoreError(.busy, "the request was cancelled") }
    }

    private var collisions = 0
    private var deadConnections = 0

    /// Counts a failed run.
    ///
    /// - Returns: the pause before the next run; nil if there is none.
    mutating func pause(after kind: StoreError.Kind) -> Duration? {
        switch kind {
        case .serialization:
            collisions += 1
            if collisions > Self.maximumCollisions { return nil }
            // Full jitter, so that transactions that collided do not collide again.
            return .milliseconds(Int.random(in: 0...min(64, 1 << min(collisions, 6))))
        case .fileLocked: return .milliseconds(Int.random(in: 1...20))
        case .disconnected:
            deadConnections += 1
            return deadConnections < Self.maximumConnections ? .zero : nil
        // A run that waited for locked rows until its limit would only fill the pool with waiting callers.
        default: return nil
        }
    }

    /// Returns the error for the caller after the last run.
    private func final(_ error: StoreError) -> StoreError {
        switch error.kind {
        case .serialization:
            StoreError(
                .busy,
                "the rows stayed locked by other transactions in \(collisions) "
                    + "attempts", code: error.code)
        case .locked: StoreError(.busy, error.message, code: error.code)
        case .fileLocked: StoreError(.busy, "the SQLite file stayed locked by another", code: error.code)
        case .disconnected: StoreError(.unavailable, error.message, code: error.code)
        default: error
        }
    }
}
