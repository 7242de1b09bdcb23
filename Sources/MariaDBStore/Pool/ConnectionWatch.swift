import Synchronization

/// Cuts connections off after their deadlines; it checks them ten times a second.
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

    /// Watches a connection until it is freed.
    func add(_ health: ConnectionHealth) {
        state.withLock { state in
            state.entries.append(Entry(health: health))
            if state.rounds == nil { state.rounds = Task { await run() } }
        }
    }

    /// Stops the watch and waits for a running check, which must not overlap the end of the process.
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

    /// - Returns: false if no connection is left; then `add` starts the checks again.
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
