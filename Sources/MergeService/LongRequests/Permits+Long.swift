import RecordStore

/// Permits of long requests. Short requests need none.
extension Permits {
    /// Early releases of long pushes at once.
    static let earlyReleaseLimit = 5

    /// Waits for the permit of a long request; `release(if:)` has to follow.
    ///
    /// - Throws: a `StoreError` of the kind `busy` if no permit comes in time, or if the client leaves meanwhile.
    func acquire(
        if isLong: Bool, until deadline: ContinuousClock.Instant, for caller: Caller? = nil
    ) async throws(StoreError) {
        guard isLong else { return }
        guard await acquire(until: deadline) else {
            throw StoreError(.busy, "no permit for a long request became free in time")
        }
        guard caller?.hasLeft != true, !Task.isCancelled else {
            release()
            throw StoreError(.busy, "the client of the request has left")
        }
    }

    /// Returns the permit of a long request.
    func release(if isLong: Bool) {
        if isLong { release() }
    }

    /// Runs a long push that has a permit, and returns the permit.
    ///
    /// If the push takes longer than `patience`, the permit is returned early: a row that another program has locked does
    /// not hold up every long push.
    func run<Answer: Sendable>(
        releasingAfter patience: Duration, _ body: () async throws -> Answer
    ) async throws -> Answer {
        let end = Wait<Void>()
        async let isReleased = releaseEarly(at: .now.advanced(by: patience), unless: end)
        let result: Result<Answer, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.end(())
        if await isReleased { endEarlyRelease() } else { release() }
        return try result.get()
    }

    private func releaseEarly(at time: ContinuousClock.Instant, unless end: Wait<Void>) async -> Bool {
        if await end.outcome(until: time) != nil || Task.isCancelled { return false }
        return releaseEarly(limit: Self.earlyReleaseLimit)
    }
}
