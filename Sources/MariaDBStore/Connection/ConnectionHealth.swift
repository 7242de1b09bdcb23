import Synchronization

/// Tells any thread whether a connection can still be used, and where it was closed; the pool asks.
final class ConnectionHealth: Sendable {
    /// On which thread a connection's handle was closed.
    enum Closing: Int, Sendable {
        case onItsThread = 1
        case elsewhere
    }

    private let broken = Atomic<Bool>(false)
    private let closed = Atomic<Int>(0)

    var isBroken: Bool { broken.load(ordering: .acquiring) }

    /// nil as long as there is no handle, or an open one.
    var closing: Closing? { Closing(rawValue: closed.load(ordering: .acquiring)) }

    func note(_ closing: Closing) { closed.store(closing.rawValue, ordering: .releasing) }

    func giveUp() { broken.store(true, ordering: .releasing) }
}
