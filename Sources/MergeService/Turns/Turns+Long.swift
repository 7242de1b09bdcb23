import RecordStore

extension Turns {
    /// Loans of long pushes at once.
    static let mostLoans = 5

    /// Waits for the turn of something long.
    ///
    /// Something short needs none. `end` has to follow.
    ///
    /// - Throws: a `StoreError` of the kind `busy` if its turn does not come in time, or its caller leaves meanwhile.
    func begin(
        if isLong: Bool, until deadline: ContinuousClock.Instant, for caller: Caller? = nil
    ) async throws(StoreError) {
        guard isLong else { return }
        guard await enter(until: deadline) else {
            throw StoreError(.busy, "its time was over before its turn came among long ones")
        }
        guard caller?.hasLeft != true, !Task.isCancelled else {
            leave()
            throw StoreError(.busy, "nobody waits for it any more")
        }
    }

    /// Ends the turn of something long.
    func end(if isLong: Bool) {
        if isLong { leave() }
    }

    /// Runs a long push in its turn, which has begun, and ends the turn.
    ///
    /// If the push takes longer than `patience`, its room is lent to the next one: a row that another program has locked
    /// does not hold up every long push.
    func run<Answer: Sendable>(
        lendingAfter patience: Duration, _ body: () async throws -> Answer
    ) async throws -> Answer {
        let end = Wait<Void>()
        async let isLent = lend(at: .now.advanced(by: patience), unless: end)
        let result: Result<Answer, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.end(())
        if await isLent { endLoan() } else { leave() }
        return try result.get()
    }

    private func lend(at time: ContinuousClock.Instant, unless end: Wait<Void>) async -> Bool {
        if await end.outcome(until: time) != nil || Task.isCancelled { return false }
        return lend(most: Self.mostLoans)
    }
}
