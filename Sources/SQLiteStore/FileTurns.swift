import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Leaves a file that other programs write to now and then.
///
/// Who waits for a SQLite file only looks at it from time to time, and would not find it free between two transactions
/// of a gateway that has always one more. So after a while without a pause there is one; and where others have been
/// seen to write, the pauses are longer.
final class FileTurns: Sendable {
    private struct State {
        /// The end of the last transaction.
        var end = ContinuousClock.now
        /// The moment since which one followed the other.
        var start = ContinuousClock.now
        /// The version of the file as far as this connection did not make it.
        var version: Int?
        /// Until then others are taken to be writing.
        var sharedUntil = ContinuousClock.now
    }

    private let state = Mutex(State())
    /// A time in which any program finds the file free that waits for it.
    private static let rest = Duration.milliseconds(5)
    /// The time for which one transaction may follow the other.
    private static let turn = Duration.milliseconds(40)
    private static let pause = Duration.milliseconds(3)
    private static let sharedTurn = Duration.milliseconds(20)
    private static let sharedPause = Duration.milliseconds(12)
    /// The time for which a program that has written is expected to write again.
    private static let memory = Duration.seconds(2)

    /// Waits where it is the others' turn, on a thread that may block.
    func begin() {
        let pause = state.withLock { state -> Duration in
            let now = ContinuousClock.now
            if now - state.end >= Self.rest { state.start = now }
            let isShared = now < state.sharedUntil
            guard now - state.start >= (isShared ? Self.sharedTurn : Self.turn) else { return .zero }
            // Not all the same length, or two gateways would always meet.
            let pause = (isShared ? Self.sharedPause : Self.pause) * Double.random(in: 0.75...1.25)
            state.start = now + pause
            return pause
        }
        if pause > .zero { usleep(UInt32(pause / .microseconds(1))) }
    }

    /// Notes the version of the file, which only the commits of other connections change; nil where it is not known.
    func sees(version: Int?) {
        guard let version else { return }
        state.withLock { state in
            if let known = state.version, known != version { state.sharedUntil = .now + Self.memory }
            state.version = version
        }
    }

    /// Notes the end of a transaction.
    func end() { state.withLock { $0.end = .now } }
}
