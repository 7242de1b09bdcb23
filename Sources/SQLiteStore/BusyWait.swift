import MergeCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Waiting for a file that another program holds, until a moment that may differ each time.
///
/// The file is looked at more often than SQLite itself would, since a program that writes without a pause leaves it free
/// for no more than a moment.
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
    private static let pause = Duration.milliseconds(2)

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
            return state.end ?? state.start.advanced(by: .clamped(seconds: seconds))
        }
        guard now < end else { return false }
        let pause = min(Self.pause * Double.random(in: 0.5...1), end - now)
        usleep(UInt32(max(1, pause / .microseconds(1))))
        return true
    }
}
