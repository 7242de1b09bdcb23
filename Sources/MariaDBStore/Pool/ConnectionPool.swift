import RecordStore
import Synchronization

/// Lends connections: a thin shell around `PoolState`.
final class ConnectionPool: Sendable {
    private enum Turn: Sendable {
        case use(MariaDBConnection)
        case open
        case refuse(StoreError)
    }

    private struct State {
        var pool: PoolState<MariaDBConnection>
        var waiters: [UInt64: Wait<Turn>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private typealias Opening = Wait<Result<MariaDBConnection, StoreError>>

    private let state: Mutex<State>
    private let configuration: MariaDBConfiguration
    private let watch = ConnectionWatch()
    /// The limit of the connection that was opened last; 0 before the first.
    private let longest = Atomic<Int>(0)

    init(_ configuration: MariaDBConfiguration) {
        self.configuration = configuration
        let limits = configuration.limits
        state = Mutex(
            State(pool: PoolState(maximumConnections: limits.connections, maximumWaiters: limits.waiters)))
    }

    /// Lends a connection to `body`, and cuts it off at the deadline unless `body` sets another one.
    ///
    /// - Parameter purpose: a connection that was last used for this purpose is preferred, because it needs no setup.
    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: (MariaDBConnection) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        guard ContinuousClock.now < deadline else { throw Self.late }
        let connection = try await acquire(for: purpose, deadline)
        connection.health.expect(by: deadline)
        let answer: Answer
        do {
            answer = try await body(connection)
        } catch {
            await giveBack(connection)
            throw error
        }
        await giveBack(connection)
        return answer
    }

    /// The bytes of the longest value that the server accepts; nil before the first connection.
    var longestValue: Int? {
        let bytes = longest.load(ordering: .relaxed)
        return bytes == 0 ? nil : bytes
    }

    var counts: ConnectionCounts { state.withLock { $0.pool.counts } }

    func close() async {
        let (connections, waiting) = state.withLock { state in
            let closing = state.pool.close()
            return (closing.connections, closing.waiters.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in waiting { waiter.end(.refuse(Self.closed)) }
        for connection in connections { await connection.close() }
        await watch.stop()
    }

    private static let closed = StoreError(.unavailable, "the gateway is shutting down")
    private static let late = StoreError(.busy, "no connection to the database became free in time")
    private static let full = StoreError(.busy, "too many requests wait for a connection to the database")

    private func acquire(
        for purpose: TransactionKind, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> MariaDBConnection {
        switch try await turn(for: purpose, deadline) {
        case .use(let connection): return connection
        case .open: return try await open(deadline)
        case .refuse(let error): throw error
        }
    }

    private func turn(
        for purpose: TransactionKind, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Turn {
        let wait = Wait<Turn>()
        let number = state.withLock { state in
            state.lastWaiter += 1
            let number = state.lastWaiter
            switch state.pool.acquire(waiter: number, suits: { $0.wasUsed(for: purpose) }) {
            case .use(let connection): wait.end(.use(connection))
            case .open: wait.end(.open)
            case .refuseClosed: wait.end(.refuse(Self.closed))
            case .refuseFull: wait.end(.refuse(Self.full))
            case .wait: state.waiters[number] = wait
            }
            return number
        }
        if let turn = await wait.outcome(until: deadline) { return turn }
        state.withLock { state in
            _ = state.pool.giveUp(number)
            state.waiters[number] = nil
        }
        throw Self.late
    }

    /// Opens a connection; if it opens after the deadline, later callers use it.
    private func open(_ deadline: ContinuousClock.Instant) async throws(StoreError) -> MariaDBConnection {
        let opening = Opening()
        opening.begin {
            await self.opened()
        } late: { outcome in
            if case .success(let connection) = outcome { await self.giveBack(connection) }
        }
        guard let outcome = await opening.outcome(until: deadline) else { throw Self.slow }
        return try outcome.get()
    }

    private static let slow = StoreError(.unavailable, "the database server does not take up connections in time")

    private func opened() async -> Result<MariaDBConnection, StoreError> {
        do throws(StoreError) {
            let connection = try MariaDBConnection(configuration)
            watch.add(connection.health)
            // The server may accept the connection and then not answer.
            connection.health.expect(by: .now.advanced(by: .seconds(2 * Int(configuration.limits.connectSeconds))))
            longest.store(try await connection.open().longestValue, ordering: .relaxed)
            connection.health.expect(by: nil)
            return .success(connection)
        } catch {
            await passOn(nil)
            return .failure(error)
        }
    }

    private func giveBack(_ connection: MariaDBConnection) async {
        connection.health.expect(by: nil)
        if connection.isUsable { await release(connection) } else { await discard(connection) }
    }

    private func release(_ connection: MariaDBConnection) async {
        let closing = state.withLock { state -> MariaDBConnection? in
            while true {
                switch state.pool.release(connection) {
                case .handOver(_, let number):
                    if state.waiters.removeValue(forKey: number)?.end(.use(connection)) == true { return nil }
                case .keep: return nil
                case .close(let connection): return connection
                }
            }
        }
        await closing?.close()
    }

    private func discard(_ connection: MariaDBConnection) async {
        await passOn(connection)
        await connection.close()
    }

    /// Passes the slot of a broken connection to the caller that waits longest, which opens a new one.
    ///
    /// Idle connections are closed too: they are probably dead as well.
    private func passOn(_ broken: MariaDBConnection?) async {
        let dropped = state.withLock { state in
            while let number = state.pool.discard() {
                if state.waiters.removeValue(forKey: number)?.end(.open) == true { break }
            }
            return broken == nil ? [] : state.pool.dropIdle()
        }
        for connection in dropped { await connection.close() }
    }
}
