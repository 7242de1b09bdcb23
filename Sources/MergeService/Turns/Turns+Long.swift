import RecordStore

extension Turns {
    /// Waits until it is the turn of something long.
    ///
    /// What is not long has no need of one. `end` has to follow.
    ///
    /// - Throws: a `StoreError` of the kind `busy` where its turn does not come in time, or its caller leaves meanwhile.
    func begin(
        if isLong: Bool, until deadline: ContinuousClock.Instant, for caller: Caller? = nil
    ) async throws(StoreError) {
        guard isLong else { return }
        guard await enter(1, until: deadline) else {
            throw StoreError(.busy, "its time was over before its turn came among long ones")
        }
        guard caller?.hasLeft != true, !Task.isCancelled else {
            leave(1)
            throw StoreError(.busy, "nobody waits for it any more")
        }
    }

    /// Ends the turn of something long.
    func end(if isLong: Bool) {
        if isLong { leave(1) }
    }
}
