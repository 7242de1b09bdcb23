public import FieldMergeClient
import Synchronization

/// A clock that only a test advances.
///
/// It begins at a fixed time.
public final class ManualClock: StoreClock {
    private struct State {
        var now: Double
        var monotonic = 1_000.0
        var next = 0
        var sleepers: [Int: (until: Double, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// Creates a clock at a number of seconds since 1970.
    public init(now: Double = 1_700_000_000) { state = Mutex(State(now: now)) }

    /// Returns the seconds since 1970.
    public func now() -> Double { state.withLock(\.now) }

    /// Returns seconds that never decrease.
    public func monotonic() -> Double { state.withLock(\.monotonic) }

    /// Waits; throws if the task is cancelled.
    public func sleep(seconds: Double) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, watchers) = state.withLock { state in
                    if seconds <= 0 || Task.isCancelled { return (true, state.watchers.prefix(0)) }
                    state.sleepers[number] = (state.monotonic + seconds, continuation)
                    defer { state.watchers = [] }
                    return (false, state.watchers[...])
                }
                if isOver { continuation.resume() }
                for watcher in watchers { watcher.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits until a task waits for this clock.
    public func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    /// Advances the time.
    public func advance(_ seconds: Double) {
        let woken = state.withLock { state in
            state.now += seconds
            state.monotonic += seconds
            let due = state.sleepers.filter { $0.value.until <= state.monotonic }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Changes the wall clock, as a user or a network would.
    ///
    /// No time passes.
    public func jump(_ seconds: Double) { state.withLock { $0.now += seconds } }
}
