import Synchronization

/// Room for so much work at once.
///
/// Callers that find no room wait in the order in which they came, until their deadline. A caller alone always has room.
package final class Turns: Sendable {
    private struct State {
        var used = 0
        /// Loans that have not ended.
        var loans = 0
        var waiters: [(weight: Int, wait: Wait<Void>)] = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Makes room.
    ///
    /// - Parameter limit: the weight of all work at once.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The weight of the work under way.
    package var used: Int { state.withLock { $0.used } }

    /// The number of callers that wait.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for room.
    ///
    /// - Returns: false if no room came before the deadline, or before the task was cancelled; else `leave` has to follow.
    package func enter(_ weight: Int = 1, until deadline: ContinuousClock.Instant) async -> Bool {
        let wait = Wait<Void>()
        state.withLock { state in
            state.waiters.append((weight, wait))
            admit(&state)
        }
        if await wait.outcome(until: deadline) != nil { return true }
        state.withLock { state in
            state.waiters.removeAll { $0.wait === wait }
            // A lighter one may have waited behind it.
            admit(&state)
        }
        return false
    }

    /// Gives room back.
    package func leave(_ weight: Int = 1) {
        state.withLock { state in
            state.used -= weight
            admit(&state)
        }
    }

    /// Lends room to the callers that wait, because its owner is held up.
    ///
    /// - Parameter most: the number of loans at once.
    /// - Returns: false if there are so many loans already; else `endLoan` has to follow in place of `leave`.
    package func lend(_ weight: Int = 1, most: Int) -> Bool {
        state.withLock { state in
            guard state.loans < most else { return false }
            state.loans += 1
            state.used -= weight
            admit(&state)
            return true
        }
    }

    /// Ends a loan.
    package func endLoan() {
        state.withLock { $0.loans -= 1 }
    }

    /// Admits the first callers that have room now.
    private func admit(_ state: inout State) {
        while let first = state.waiters.first, first.wait.isOver || hasRoom(for: first.weight, state) {
            state.waiters.removeFirst()
            if first.wait.end(()) { state.used += first.weight }
        }
    }

    private func hasRoom(for weight: Int, _ state: borrowing State) -> Bool {
        state.used == 0 || state.used + weight <= limit
    }
}
