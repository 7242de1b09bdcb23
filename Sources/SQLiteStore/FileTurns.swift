import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Pauses between transactions, so that other programs can write to the file.
///
/// A waiting program checks the file about every tenth of a second. A busy gateway unlocks it only for moments between
/// these checks. So after some time the next transaction waits for longer than that, and more often after writes of
/// other programs.
final class FileTurns: Sendable {
    private struct State {
        var end = ContinuousClock.now
        /// The end of the last gap that was as long as a pause.
        var busySince = ContinuousClock.now
        /// The version of the file, which other connections change.
        var version: Int?
        /// The time until which other programs are expected to write.
        var sharedUntil = ContinuousClock.now
    }

    private let state = Mutex(State())
    private static let pause = Duration.milliseconds(105)
    /// The time between two pauses if no other program has written.
    private static let period = Duration.seconds(3)
    /// The time between two pauses if another program has written.
    private static let sharedPeriod = Duration.milliseconds(400)
    /// The time for which a program that has written is expected to write again.
    private static let memory = Duration.seconds(10)

    /// Pauses if a pause is due, on a thread that may block.
    func begin() {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            let isFree = now - state.end >= Self.pause
            let period = now < state.sharedUntil ? Self.sharedPeriod : Self.period
            guard isFree || now - state.busySince >= period else { return false }
            state.busySince = isFree ? now : now.advanced(by: Self.pause)
            return !isFree
        }
        if isDue { usleep(UInt32(Self.pause / .microseconds(1))) }
    }

    /// Stores the version of the file, which only commits of other connections change; nil if it is unknown.
    func sees(version: Int?) {
        guard let version else { return }
        state.withLock { state in
            if let known = state.version, known != version { state.sharedUntil = .now.advanced(by: Self.memory) }
            state.version = version
        }
    }

    func end() { state.withLock { $0.end = .now } }
}
