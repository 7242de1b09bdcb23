import Glibc
import Synchronization

/// The state of a connection for other threads: the pool reads it, and `ConnectionWatch` cuts the connection off.
///
/// The C client cannot stop waiting for the server. So the watch shuts the socket down, which ends the running call,
/// and the server rolls back.
final class ConnectionHealth: Sendable {
    enum Closing: Int, Sendable {
        case onItsThread = 1
        case elsewhere
    }

    private struct Watched {
        /// nil if no handle is open.
        var socket: Int32?
        /// nil if no call waits for the server.
        var deadline: ContinuousClock.Instant?
    }

    private let broken = Atomic<Bool>(false)
    private let cutOff = Atomic<Bool>(false)
    private let closed = Atomic<Int>(0)
    private let watched = Mutex(Watched())

    var isBroken: Bool { broken.load(ordering: .acquiring) }

    /// True after the server did not answer in time.
    var wasCutOff: Bool { cutOff.load(ordering: .acquiring) }

    /// nil if there is no handle, or it is open.
    var closing: Closing? { Closing(rawValue: closed.load(ordering: .acquiring)) }

    func note(_ closing: Closing) { closed.store(closing.rawValue, ordering: .releasing) }

    func giveUp() { broken.store(true, ordering: .releasing) }

    /// Sets the socket of an open handle; nil before it is closed.
    func watch(socket: Int32?) { watched.withLock { $0.socket = socket } }

    func expect(by deadline: ContinuousClock.Instant?) { watched.withLock { $0.deadline = deadline } }

    /// Cuts the connection off if its deadline is past; it cannot be used afterwards.
    func cutOff(at now: ContinuousClock.Instant) {
        watched.withLock { watched in
            guard let socket = watched.socket, let deadline = watched.deadline, deadline <= now else { return }
            watched.deadline = nil
            cutOff.store(true, ordering: .releasing)
            giveUp()
            shutdown(socket, Int32(SHUT_RDWR))
        }
    }
}
