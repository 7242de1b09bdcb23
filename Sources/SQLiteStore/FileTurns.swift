import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Leaves a file to other programs that write, again and again for a short while.
///
/// Who waits for a SQLite file only looks at it from time to time, and would not find it free between two transactions
/// of a gateway that has always one more. So in each period there is a slot in which no transaction begins. The slots go
/// by the machine's clock, so that several gateways leave the file at the same time and not to one another; and where
/// others have been seen to write, the slots are longer.
final class FileTurns: Sendable {
    private struct State {
        /// The end of the last transaction, in nanoseconds.
        var end: Int64 = 0
        /// The version of the file as far as this connection did not make it.
        var version: Int?
        /// The time until which others are taken to be writing.
        var sharedUntil: Int64 = 0
    }

    private let state = Mutex(State())
    private static let millisecond: Int64 = 1_000_000
    private static let period = 40 * millisecond
    /// The end of each period, where nobody has been seen to write.
    private static let slot = 3 * millisecond
    /// The same where somebody has.
    private static let sharedSlot = 12 * millisecond
    /// The time without a transaction after which anybody has found the file free.
    private static let rest = 5 * millisecond
    /// The time for which a program that has written is expected to write again.
    private static let memory = 10_000 * millisecond

    /// Waits while it is the others' turn, on a thread that may block.
    func begin() {
        let now = Self.now
        let (isShared, hasRested) = state.withLock { (now < $0.sharedUntil, now - $0.end >= Self.rest) }
        guard isShared || !hasRested else { return }
        let left = Self.period - now % Self.period
        if left <= (isShared ? Self.sharedSlot : Self.slot) { usleep(UInt32(left / 1_000 + 1)) }
    }

    /// Notes the version of the file, which only the commits of other connections change; nil where it is not known.
    func sees(version: Int?) {
        guard let version else { return }
        state.withLock { state in
            if let known = state.version, known != version { state.sharedUntil = Self.now + Self.memory }
            state.version = version
        }
    }

    /// Notes the end of a transaction.
    func end() { state.withLock { $0.end = Self.now } }

    /// Nanoseconds by a clock that all processes of the machine share and nobody sets.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 * millisecond + Int64(time.tv_nsec)
    }
}
