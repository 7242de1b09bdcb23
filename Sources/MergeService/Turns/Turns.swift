import Synchronization

/// Lets so much be worked on at once.
///
/// Those who find no room wait in the order in which they came, until their time is over. One alone always has room.
package final class Turns: Sendable {
    private struct Waiter {
        let number: Int
        let weight: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var used = 0
        /// Room that is lent, by those who stand still.
        var lent = 0
        var waiters: [Waiter] = []
        var next = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the weight of all that is worked on at once.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The weight of what is worked on at the moment.
    package var used: Int { state.withLock { $0.used } }

    /// The number of those who wait.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for room.
    ///
    /// - Returns: false where there is none before the deadline, or until the task is cancelled; else `leave` has to follow.
    package func enter(_ weight: Int, until deadline: ContinuousClock.Instant) async -> Bool {
        let number = state.withLock { state -> Int? in
            if state.waiters.isEmpty, hasRoom(for: weight, state) {
                state.used += weight
                return nil
            }
            state.next += 1
            return state.next
        }
        guard let number else { return true }
        let alarm = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            turnAway(number)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> [Waiter] in
                    state.waiters.append(Waiter(number: number, weight: weight, continuation: continuation))
                    return admitted(&state)
                }
                for waiter in ready { waiter.continuation.resume(returning: true) }
                if ContinuousClock.now >= deadline || Task.isCancelled { turnAway(number) }
            }
        } onCancel: {
            turnAway(number)
        }
    }

    /// Gives room back.
    package func leave(_ weight: Int) {
        let ready = state.withLock { state in
            state.used -= weight
            return admitted(&state)
        }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    /// Lends one's room to those who wait, because one stands still.
    ///
    /// - Parameter most: rooms that are lent at once.
    /// - Returns: false where so many are lent already; else `endLoan` has to follow in place of `leave`.
    func lend(_ weight: Int, most: Int) -> Bool {
        let ready = state.withLock { state -> [Waiter]? in
            guard state.lent < most else { return nil }
            state.lent += 1
            state.used -= weight
            return admitted(&state)
        }
        for waiter in ready ?? [] { waiter.continuation.resume(returning: true) }
        return ready != nil
    }

    /// Ends what one has lent one's room during.
    func endLoan() {
        state.withLock { $0.lent -= 1 }
    }

    private func turnAway(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    private func hasRoom(for weight: Int, _ state: borrowing State) -> Bool {
        state.used == 0 || state.used + weight <= limit
    }

    /// Takes those out of the queue that have room now.
    private func admitted(_ state: inout State) -> [Waiter] {
        var ready: [Waiter] = []
        while let first = state.waiters.first, hasRoom(for: first.weight, state) {
            state.used += first.weight
            ready.append(state.waiters.removeFirst())
        }
        return ready
    }
}
