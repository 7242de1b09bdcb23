import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Leaves a file to other programs that write, again and again for a short while.
///
/// Who waits for a SQLite file only looks at it from time to time, ten times a second in the end, and would not find it
/// free between two transactions of a gateway that has always one more. So each period ends with a slot in which no
/// transaction begins, long enough to be met by one of those looks; where others have been seen to write, it comes more
/// often. The periods go by the machine's clock, so that several gateways leave the file at the same time and not to one
/// another.
final class FileTurns: Sendable {
    private struct State {
        /// The end of the last transaction, in nanoseconds.
        var end: Int64 = 0
        /// The version of the file as far as this connection did not make it.
        var version: Int?
        /// The time until which others are taken to be writing.
        var sharedUntil: Int64 = 0
        /// The end of the last slot that was left to others.
        var given: Int64 = 0
    }

    private let state = Mutex(State())
    private static let millisecond: Int64 = 1_000_000
    private static let slot = 105 * millisecond
    /// The time between the ends of two slots, where nobody has been seen to write.
    private static let period = 3_000 * millisecond
    /// The same where somebody has.
    private static let sharedPeriod = 400 * millisecond
    /// The time for which a program that has written is expected to write again.
    private static let memory = 10_000 * millisecond

    /// Waits while it is the others' turn, on a thread that may block.
    ///
    /// - Parameter isHeld: another has the file at the moment, which may be a gateway that leaves it in the next slot.
    func begin(whileHeld isHeld: Bool = false) {
        let pause = state.withLock { state in Self.pause(&state, at: Self.now, isHeld: isHeld) }
        if pause > 0 { usleep(UInt32(pause / 1_000 + 1)) }
    }

    private static func pause(_ state: inout State, at now: Int64, isHeld: Bool) -> Int64 {
        let isShared = now < state.sharedUntil
        // Who has looked meanwhile has found it free.
        if isHeld ? !isShared : now - state.end >= slot {
            state.given = now
            return 0
        }
        let period = isShared ? sharedPeriod : Self.period
        let phase = now % period
        if phase >= period - slot {
            state.given = now - phase + period
            return period - phase
        }
        // A transaction may have been longer than the slot.
        guard !isHeld, state.given < now - phase else { return 0 }
        state.given = now + slot
        return slot
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
