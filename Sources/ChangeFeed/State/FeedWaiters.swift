import RecordStore
import Synchronization

/// The requests that wait for new revisions.
final class FeedWaiters: Sendable {
    private struct Waiter {
        let revision: Int
        let feed: String
        let wait = Wait<Void>()
    }

    private struct State {
        var waiters: [ObjectIdentifier: Waiter] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.waiters.count } }

    /// Waits until the feed is beyond a revision, has another name, or the deadline has passed.
    ///
    /// - Parameter isOver: called after the registration, so that no revision is missed.
    func wait(
        beyond revision: Int, of feed: String, until deadline: ContinuousClock.Instant, unless isOver: () -> Bool
    ) async {
        let waiter = Waiter(revision: revision, feed: feed)
        let name = ObjectIdentifier(waiter.wait)
        state.withLock { state in
            if state.isClosed { waiter.wait.end(()) } else { state.waiters[name] = waiter }
        }
        if isOver() { waiter.wait.end(()) }
        _ = await waiter.wait.outcome(until: deadline)
        state.withLock { $0.waiters[name] = nil }
    }

    func wake(_ now: FeedState) {
        end { $0.revision < now.revision || $0.feed != now.feed }
    }

    /// Wakes all requests and accepts no further ones.
    func close() {
        state.withLock { $0.isClosed = true }
        end { _ in true }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    private func end(where isDone: (Waiter) -> Bool) {
        state.withLock { state in
            for waiter in state.waiters.values where isDone(waiter) { waiter.wait.end(()) }
        }
    }
}
