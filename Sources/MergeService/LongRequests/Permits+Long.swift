import RecordStore

/// Permits of long requests. Short requests need none.
extension Permits {
    /// The most concurrent early releases of long pushes.
    static let earlyReleaseLimit = 5

    /// Acquires the permit of a long request; `release(if:)` must follow.
    ///
    /// - Throws: `StoreError` of the kind `busy` at the deadline, or if the client has disconnected.
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

    func release(if isLong: Bool) {
        if isLong { release() }
    }

    /// Runs a long push that has a permit, and releases the permit.
    ///
    /// If the push takes longer than `patience`, it releases the permit early. So one locked row does not delay all
    /// long pushes.
    func run<Answer: Sendable>(
        releasingAfter patience: Duration, _ body: () async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let end = Wait<Void>()
        async let isReleased = releaseEarly(at: .now.advanced(by: patience), unless: end)
        let result: Result<Answer, StoreError>
        do throws(StoreError) { result = .success(try await body()) } catch { result = .failure(error) }
        end.end(())
        if await isReleased { endEarlyRelease() } else { release() }
        return try result.get()
    }

    private func releaseEarly(at time: ContinuousClock.Instant, unless end: Wait<Void>) async -> Bool {
        if await end.outcome(until: time) != nil || Task.isCancelled { return false }
        return releaseEarly(limit: Self.earlyReleaseLimit)
    }
}
