import Synchronization

/// Those who wait for the feed to grow.
final class FeedWaiters: Sendable {
    private struct Waiter {
        let revision: Int
        let feed: String
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var next = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// The number of those who wait.
    var count: Int { state.withLock { $0.waiters.count } }

    /// Waits until the feed is beyond a revision, or another, or the time is over.
    ///
    /// - Parameter isOver: looked at once the waiter is in place, so that nothing passes it by unseen.
    func wait(
        beyond revision: Int, of feed: String, until deadline: ContinuousClock.Instant, unless isOver: () -> Bool
    ) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isClosed = state.withLock { state in
                    guard !state.isClosed else { return true }
                    state.waiters[number] = Waiter(
                        revision: revision, feed: feed, deadline: deadline, continuation: continuation)
                    return false
                }
                if isClosed { return continuation.resume() }
                if isOver() || Task.isCancelled { end(number) }
            }
        } onCancel: {
            end(number)
        }
    }

    private func end(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
    }

    /// Wakes those for whom the feed has grown.
    func wake(_ now: FeedState) { resume { $0.revision < now.revision || $0.feed != now.feed } }

    /// Wakes those whose time is over.
    func expire(now: ContinuousClock.Instant) { resume { $0.deadline <= now } }

    /// Wakes everybody, and lets nobody wait any more.
    func close() {
        state.withLock { $0.isClosed = true }
        resume { _ in true }
    }

    /// Nobody may wait any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    private func resume(where isDone: (Waiter) -> Bool) {
        let done = state.withLock { state in
            let done = state.waiters.filter { isDone($0.value) }
            for number in done.keys { state.waiters[number] = nil }
            return done
        }
        for waiter in done.values { waiter.continuation.resume() }
    }
}
