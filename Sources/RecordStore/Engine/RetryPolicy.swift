/// Runs again what met another transaction or a dead connection: nothing of it was committed.
///
/// The only place that does, so that a client waits as long as its deadline says, and no longer because two places try
/// again on each other's behalf.
package struct RetryPolicy {
    /// Runs of a transaction that others were preferred to.
    private static let maximumCollisions = 20
    /// Runs on connections that turned out to be dead, as all of a pool are where the server was started anew.
    private static let maximumConnections = 3

    /// Runs `body`, again as long as its error says that this is of use and the deadline is not past.
    ///
    /// - Throws: the error of the last run; of the kind `busy` where others were in the way until then, `unavailable`
    ///   where there was no connection that lives.
    package static func run<Answer>(
        until deadline: ContinuousClock.Instant, _ body: () async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        var policy = RetryPolicy()
        while true {
            let error: StoreError
            do throws(StoreError) {
                return try await body()
            } catch let caught {
                error = caught
            }
            guard let pause = policy.pause(after: error.kind), ContinuousClock.now < deadline else {
                throw policy.final(error)
            }
            if pause > .zero { try? await Task.sleep(for: pause) }
            if Task.isCancelled { throw StoreError(.busy, "the request was cancelled") }
        }
    }

    private var collisions = 0
    private var deadConnections = 0

    /// Notes a run that came to nothing.
    ///
    /// - Returns: how long to wait before the next run; nil where there is to be none.
    mutating func pause(after kind: StoreError.Kind) -> Duration? {
        switch kind {
        case .serialization:
            collisions += 1
            if collisions > Self.maximumCollisions { return nil }
            // Full jitter, so that those who met once do not meet again.
            return .milliseconds(Int.random(in: 0...min(64, 1 << min(collisions, 6))))
        case .fileLocked: return .milliseconds(Int.random(in: 1...20))
        case .disconnected:
            deadConnections += 1
            return deadConnections < Self.maximumConnections ? .zero : nil
        // One that waited for rows as long as one may would only fill the pool with waiters.
        default: return nil
        }
    }

    /// Says what it means to the caller that no further run helps.
    private func final(_ error: StoreError) -> StoreError {
        switch error.kind {
        case .serialization:
            StoreError(.busy, "the rows stayed locked by others through \(collisions) attempts", code: error.code)
        case .locked: StoreError(.busy, error.message, code: error.code)
        case .fileLocked: StoreError(.busy, "the SQLite file stayed locked by another", code: error.code)
        case .disconnected: StoreError(.unavailable, error.message, code: error.code)
        default: error
        }
    }
}
