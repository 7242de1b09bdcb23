import MergeCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Waits for a file that another program has locked.
///
/// It checks more often than SQLite would, because a program that writes without a pause unlocks the file only briefly.
final class BusyWait: Sendable {
    private struct State {
        /// nil for the default wait.
        var end: ContinuousClock.Instant?
        var start = ContinuousClock.now
    }

    private let state = Mutex(State())
    /// The length of a default wait.
    private let seconds: Double
    private static let pause = Duration.milliseconds(2)

    init(seconds: Double) {
        self.seconds = seconds
    }

    /// Sets the deadline of the following waits; nil for the default wait.
    func wait(until end: ContinuousClock.Instant?) { state.withLock { $0.end = end } }

    /// Waits a little before another attempt.
    ///
    /// - Parameter attempt: the number of attempts before.
    /// - Returns: false if the time is over.
    func pause(before attempt: Int) -> Bool {
        let now = ContinuousClock.now
        let end = state.withLock { state in
            if attempt == 0 { state.start = now }
            return state.end ?? state.start.advanced(by: .clamped(seconds: seconds))
        }
        guard now < end else { return false }
        let pause = min(Self.pause * Double.random(in: 0.5...1), end - now)
        usleep(UInt32(max(1, pause / .microseconds(1))))
        return true
    }
}
