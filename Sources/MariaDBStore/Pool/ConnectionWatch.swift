import Synchronization

/// Looks ten times a second after connections whose time is over, and cuts them off.
final class ConnectionWatch: Sendable {
    private struct Entry {
        weak var health: ConnectionHealth?
    }

    private struct State {
        var entries: [Entry] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private static let pause = Duration.milliseconds(100)

    /// Looks after a connection for as long as it is there.
    func add(_ health: ConnectionHealth) {
        let starts = state.withLock { state in
            state.entries.append(Entry(health: health))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task { await run() } }
    }

    private func run() async {
        while look() { try? await Task.sleep(for: Self.pause) }
    }

    /// - Returns: false once there is no connection left.
    private func look() -> Bool {
        let left = state.withLock { state in
            state.entries.removeAll { $0.health == nil }
            state.isRunning = !state.entries.isEmpty
            return state.entries.compactMap(\.health)
        }
        let now = ContinuousClock.now
        for health in left { health.cutOff(at: now) }
        return !left.isEmpty
    }
}
