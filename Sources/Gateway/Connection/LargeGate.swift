import MergeCore
import Synchronization

/// Lets so many bytes of large bodies be worked on at once: what is made of a body takes many times its length.
///
/// Those who find no room wait in the order in which they came, until their time is over. One alone always has room.
final class LargeGate: Sendable {
    private struct Waiter {
        let number: Int
        let weight: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var used = 0
        var waiters: [Waiter] = []
        var next = 0
    }

    private let limit: Int
    private let state = Mutex(State())
    /// Bodies that are shorter pass freely.
    private static let smallest = 262_144

    init(limit: Int) {
        self.limit = limit
    }

    /// Bytes that are worked on at the moment.
    var used: Int { state.withLock { $0.used } }

    /// Runs `work` on a body once there is room for it.
    ///
    /// - Throws: a 503 `Problem` where there is none before the deadline, and what `work` throws.
    @discardableResult
    func pass<Answer>(
        _ weight: Int, until deadline: ContinuousClock.Instant, _ work: () async throws -> Answer
    ) async throws -> Answer {
        guard weight >= Self.smallest else { return try await work() }
        guard await enter(weight, until: deadline) else { throw ByteBudget.overloaded }
        defer { leave(weight) }
        return try await work()
    }

    private func enter(_ weight: Int, until deadline: ContinuousClock.Instant) async -> Bool {
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
        return await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> [Waiter] in
                state.waiters.append(Waiter(number: number, weight: weight, continuation: continuation))
                return admitted(&state)
            }
            for waiter in ready { waiter.continuation.resume(returning: true) }
            if ContinuousClock.now >= deadline { turnAway(number) }
        }
    }

    private func leave(_ weight: Int) {
        let ready = state.withLock { state in
            state.used -= weight
            return admitted(&state)
        }
        for waiter in ready { waiter.continuation.resume(returning: true) }
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
