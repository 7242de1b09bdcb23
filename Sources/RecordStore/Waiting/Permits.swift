import Synchronization

/// A semaphore with weights: a limited number of permits for work at once.
///
/// Callers wait for permits in their order of arrival, until their deadline. A single caller always gets its permits,
/// also if it needs more than the limit.
package final class Permits: Sendable {
    private struct State {
        var used = 0
        /// Early releases that have not ended.
        var earlyReleases = 0
        var waiters: [(count: Int, wait: Wait<Void>)] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the number of permits.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The number of permits in use.
    package var used: Int { state.withLock { $0.used } }

    /// The number of callers that wait.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for permits.
    ///
    /// - Returns: false if the deadline or the cancellation of the task came first; else `release` has to follow.
    package func acquire(_ count: Int = 1, until deadline: ContinuousClock.Instant) async -> Bool {
        let wait = Wait<Void>()
        state.withLock { state in
            state.waiters.append((count, wait))
            admit(&state)
        }
        if await wait.outcome(until: deadline) != nil { return true }
        state.withLock { state in
            state.waiters.removeAll { $0.wait === wait }
            // A caller that needs less may have waited behind this one.
            admit(&state)
        }
        return false
    }

    /// Returns permits.
    package func release(_ count: Int = 1) {
        state.withLock { state in
            state.used -= count
            admit(&state)
        }
    }

    /// Returns the permits of a task that is blocked, such as on a lock of another program.
    ///
    /// - Parameter limit: the number of early releases at once.
    /// - Returns: false if there are so many already; else `endEarlyRelease` has to follow in place of `release`.
    package func releaseEarly(_ count: Int = 1, limit: Int) -> Bool {
        state.withLock { state in
            guard state.earlyReleases < limit else { return false }
            state.earlyReleases += 1
            state.used -= count
            admit(&state)
            return true
        }
    }

    /// Ends the work of a task that has returned its permits early.
    package func endEarlyRelease() {
        state.withLock { $0.earlyReleases -= 1 }
    }

    /// Admits the first callers for which there are permits now.
    private func admit(_ state: inout State) {
        while let first = state.waiters.first, first.wait.isOver || canAdmit(first.count, state: state) {
            state.waiters.removeFirst()
            if first.wait.end(()) { state.used += first.count }
        }
    }

    private func canAdmit(_ count: Int, state: borrowing State) -> Bool {
        state.used == 0 || state.used + count <= limit
    }
}
