import RecordStore

/// The borrowers of connections and the waiting callers, as a pure state machine.
///
/// Its functions change the state and return the action for the shell.
struct PoolState<Connection> {
    private let maximumConnections: Int
    private let maximumWaiters: Int
    private var idle: [Connection] = []
    /// Connections that are lent, idle or being opened.
    private var count = 0
    private var waiters: [UInt64] = []
    private var firstWaiter = 0
    private var isClosed = false

    init(maximumConnections: Int, maximumWaiters: Int) {
        self.maximumConnections = max(1, maximumConnections)
        self.maximumWaiters = maximumWaiters
    }

    var counts: ConnectionCounts {
        ConnectionCounts(
            open: count, used: count - idle.count, limit: maximumConnections, waiting: waiters.count - firstWaiter)
    }

    enum Acquisition {
        case use(Connection)
        /// The caller may open another connection.
        case open
        case wait
        case refuseFull
        case refuseClosed
    }

    /// The number of idle connections that are compared with the purpose.
    private static var mostLookedThrough: Int { 16 }

    /// - Parameters:
    ///   - waiter: the number of the caller, if it has to wait.
    ///   - suits: returns true if an idle connection needs no setup.
    mutating func acquire(waiter: UInt64, suits: (Connection) -> Bool = { _ in true }) -> Acquisition {
        if isClosed { return .refuseClosed }
        if let connection = takeIdle(suits) { return .use(connection) }
        if count < maximumConnections {
            count += 1
            return .open
        }
        if waiters.count - firstWaiter >= maximumWaiters { return .refuseFull }
        waiters.append(waiter)
        return .wait
    }

    private mutating func takeIdle(_ suits: (Connection) -> Bool) -> Connection? {
        guard let place = idle.suffix(Self.mostLookedThrough).lastIndex(where: suits) else { return idle.popLast() }
        return idle.remove(at: place)
    }

    enum Release {
        case handOver(Connection, to: UInt64)
        case keep
        case close(Connection)
    }

    /// Returns a usable connection to the pool, or passes it to a waiting caller.
    mutating func release(_ connection: Connection) -> Release {
        if isClosed {
            count -= 1
            return .close(connection)
        }
        if let waiter = nextWaiter() { return .handOver(connection, to: waiter) }
        idle.append(connection)
        return .keep
    }

    /// Removes a connection that broke or could not be opened.
    /// - Returns: a waiter that may now open its own connection.
    mutating func discard() -> UInt64? {
        guard !isClosed, let waiter = nextWaiter() else {
            count -= 1
            return nil
        }
        return waiter
    }

    /// Removes the idle connections.
    ///
    /// After a broken connection, they are probably broken too.
    mutating func dropIdle() -> [Connection] {
        defer { idle.removeAll() }
        count -= idle.count
        return idle
    }

    /// - Returns: true if the waiter still waited.
    mutating func giveUp(_ waiter: UInt64) -> Bool {
        guard let index = waiters[firstWaiter...].firstIndex(of: waiter) else { return false }
        waiters.remove(at: index)
        return true
    }

    /// - Returns: idle connections to close and waiters to refuse.
    mutating func close() -> (connections: [Connection], waiters: [UInt64]) {
        isClosed = true
        let waiting = Array(waiters[firstWaiter...])
        waiters.removeAll()
        firstWaiter = 0
        return (dropIdle(), waiting)
    }

    private mutating func nextWaiter() -> UInt64? {
        guard firstWaiter < waiters.count else { return nil }
        let waiter = waiters[firstWaiter]
        firstWaiter += 1
        if firstWaiter > 64, firstWaiter * 2 > waiters.count {
            waiters.removeFirst(firstWaiter)
            firstWaiter = 0
        }
        return waiter
    }
}
