import Glibc
import Synchronization

/// The state of a connection for those on other threads: the pool asks whether it can still be used and where it was
/// closed, and `ConnectionWatch` cuts it off.
///
/// The C client can't be told to stop waiting for the server. So whoever has waited long enough shuts the socket down,
/// which ends the call under way, and with it the transaction: the server takes back what was not committed.
final class ConnectionHealth: Sendable {
    /// On which thread a connection's handle was closed.
    enum Closing: Int, Sendable {
        case onItsThread = 1
        case elsewhere
    }

    private struct Watched {
        /// nil as long as there is no open handle.
        var socket: Int32?
        /// nil as long as nobody waits for the server.
        var deadline: ContinuousClock.Instant?
    }

    private let broken = Atomic<Bool>(false)
    private let cutOff = Atomic<Bool>(false)
    private let closed = Atomic<Int>(0)
    private let watched = Mutex(Watched())

    var isBroken: Bool { broken.load(ordering: .acquiring) }

    /// True once the server had not answered in time.
    var wasCutOff: Bool { cutOff.load(ordering: .acquiring) }

    /// nil as long as there is no handle, or an open one.
    var closing: Closing? { Closing(rawValue: closed.load(ordering: .acquiring)) }

    func note(_ closing: Closing) { closed.store(closing.rawValue, ordering: .releasing) }

    func giveUp() { broken.store(true, ordering: .releasing) }

    /// Notes the socket of a handle that is open from now on, or nil for one that is about to be closed.
    func watch(socket: Int32?) { watched.withLock { $0.socket = socket } }

    /// Has the connection cut off at a moment; never where it is nil.
    func expect(by deadline: ContinuousClock.Instant?) { watched.withLock { $0.deadline = deadline } }

    /// Cuts the connection off where its time is over; it can't be used any more then.
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
