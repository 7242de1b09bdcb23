import MergeCore
import Synchronization

/// The keys of the pushes that run in this gateway at this moment.
///
/// Only a courtesy to clients that send a push twice at once: that it is applied once is the database's doing, which
/// keeps one answer for one key.
final class KeysInFlight: Sendable {
    private struct State {
        var running: Set<[UInt8]> = []
        var waiters: [[UInt8]: [Int: CheckedContinuation<Bool, Never>]] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private static let patience = Duration.seconds(2)

    /// Takes a key for a push, unless another one with it runs here.
    ///
    /// Whoever took a key gives it back with `end`.
    func begin(_ name: [UInt8]) -> Bool { state.withLock { $0.running.insert(name).inserted } }

    /// Takes a key once the push that runs with it has ended.
    ///
    /// - Throws: a 409 `Problem` where that one takes longer than the client should wait.
    func beginLater(_ name: [UInt8], until deadline: ContinuousClock.Instant) async throws(Problem) {
        let latest = min(deadline, .now.advanced(by: Self.patience))
        while !begin(name) {
            guard await ended(name, by: latest) else {
                throw Problem(
                    .inProgress,
                    detail: "A push with this key was sent before and is not answered yet; send it again later.",
                    path: WirePath("key"), retry: .later(.inProgress, after: 1))
            }
        }
    }

    func end(_ name: [UInt8]) {
        let waiters = state.withLock { state in
            state.running.remove(name)
            return state.waiters.removeValue(forKey: name) ?? [:]
        }
        for waiter in waiters.values { waiter.resume(returning: true) }
    }

    /// Returns true where the other push ended in time.
    private func ended(_ name: [UInt8], by latest: ContinuousClock.Instant) async -> Bool {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let alarm = Task {
            try? await Task.sleep(until: latest, clock: .continuous)
            let waiter = state.withLock { $0.waiters[name]?.removeValue(forKey: number) }
            waiter?.resume(returning: false)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.running.contains(name), ContinuousClock.now < latest else { return true }
                state.waiters[name, default: [:]][number] = continuation
                return false
            }
            if isOver { continuation.resume(returning: ContinuousClock.now < latest) }
        }
    }
}
