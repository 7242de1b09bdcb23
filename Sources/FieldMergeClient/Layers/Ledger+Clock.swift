import Synchronization

/// The gateway's time. The device's clock may be wrong, and the gateway refuses pushes that are too old.
extension Ledger {
    /// Returns the gateway's time by the answers so far, else the clock's, in seconds since 1970; never decreases.
    func serverTime() throws -> Double {
        let offset = try context.clockOffset.withLock { $0 } ?? meta("clockOffset").doubleValue
        return context.clock.now() + (offset ?? 0)
    }

    /// Stores the offset that the last answer reported, so that it survives a restart.
    func storeClockOffset() throws {
        guard let offset = context.clockOffset.withLock({ $0 }) else { return }
        guard try offset != meta("clockOffset").doubleValue ?? 0 else { return }
        try setMeta("clockOffset", .double(offset))
    }
}
