import Synchronization

/// Looks ten times a second after connections whose time is over, and cuts them off.
final class ConnectionWatch: Sendable {
    private struct Entry {
        weak var health: ConnectionHealth?
    }

    private struct State {
        var entries: [Entry] = []
        var rounds: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private static let pause = Duration.milliseconds(100)

    /// Looks after a connection for as long as it is there.
    func add(_ health: ConnectionHealth) {
        state.withLock { state in
            state.entries.append(Entry(health: health))
            if state.rounds == nil { state.rounds = Task { await run() } }
        }
    }

    /// Looks no more, and returns once the last look is over: a process that ends must not be in the middle of one.
    func stop() async {
        let rounds = state.withLock { state in
            state.entries = []
            return state.rounds.take()
        }
        rounds?.cancel()
        await rounds?.value
    }

    private func run() async {
        while !Task.isCancelled, look() { try? await Task.sleep(for: Self.pause) }
    }

    /// - Returns: false where there is no connection left, and the next begins the looks anew.
    private func look() -> Bool {
        let left = state.withLock { state in
            state.entries.removeAll { $0.health == nil }
            if state.entries.isEmpty, !Task.isCancelled { state.rounds = nil }
            return state.entries.compactMap(\.health)
        }
        let now = ContinuousClock.now
        for health in left { health.cutOff(at: now) }
        return !left.isEmpty
    }
}
