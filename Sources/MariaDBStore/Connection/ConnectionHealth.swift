import Synchronization

/// Whether a connection can still be used; read by the pool from any thread.
final class ConnectionHealth: Sendable {
    private let broken = Atomic<Bool>(false)

    var isBroken: Bool { broken.load(ordering: .acquiring) }

    func giveUp() { broken.store(true, ordering: .releasing) }
}
