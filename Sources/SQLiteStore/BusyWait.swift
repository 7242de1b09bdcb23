import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Waiting for a file that another program holds: as SQLite itself does, but until a moment that may differ each time.
final class BusyWait: Sendable {
    private struct State {
        /// nil where nobody has said until when.
        var end: ContinuousClock.Instant?
        /// The moment at which the wait began, where nobody has.
        var start = ContinuousClock.now
    }

    private let state = Mutex(State())
    /// The time that is waited where nobody says until when.
    private let seconds: Double
    /// Milliseconds between two attempts; the last for all that follow. Source: `sqliteDefaultBusyCallback` in SQLite.
    private static let pauses: [Int] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

    init(seconds: Double) {
        self.seconds = seconds
    }

    /// Waits until a moment from now on, or as long as always where it is nil.
    func wait(until end: ContinuousClock.Instant?) { state.withLock { $0.end = end } }

    /// Waits a little before another attempt.
    ///
    /// - Parameter attempt: the number of attempts before.
    /// - Returns: false where the time is over.
    func pause(before attempt: Int) -> Bool {
        let now = ContinuousClock.now
        let end = state.withLock { state in
            if attempt == 0 { state.start = now }
            return state.end ?? state.start.advanced(by: .seconds(seconds))
        }
        guard now < end else { return false }
        let pause = min(.milliseconds(Self.pauses[min(attempt, Self.pauses.count - 1)]), end - now)
        usleep(UInt32(max(1, pause / .microseconds(1))))
        return true
    }
}
