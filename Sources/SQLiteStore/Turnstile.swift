import Synchronization

/// Lets one at a time use a connection, in the order in which they came; who has waited until its time was over goes.
///
/// GRDB's own queue would have it wait for as long as those before it do, who may have more time.
final class Turnstile: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var isTaken = false
        var waiters: [Waiter] = []
        var last = 0
    }

    private let state = Mutex(State())

    /// Waits for its turn.
    ///
    /// - Returns: false where it did not come in time; else the turn is given back with `leave`.
    func enter(until deadline: ContinuousClock.Instant) async -> Bool {
        let number = state.withLock { state -> Int? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.last += 1
            return state.last
        }
        guard let number else { return true }
        let alarm = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            turnAway(number)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiters.append(Waiter(number: number, continuation: continuation))
                return false
            }
            if isFree { continuation.resume(returning: true) }
            // The alarm may have found nobody to turn away yet.
            if !isFree, ContinuousClock.now >= deadline { turnAway(number) }
        }
    }

    /// Passes the turn on.
    func leave() {
        let next = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }

    private func turnAway(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }
}
