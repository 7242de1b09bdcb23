import RecordStore
import Synchronization

/// Hands out connections: a thin shell around `PoolState`.
final class ConnectionPool: Sendable {
    fileprivate enum Turn: Sendable {
        case use(MariaDBConnection)
        case open
    }

    fileprivate struct Waiter {
        let continuation: CheckedContinuation<Turn, any Error>
        let timer: Task<Void, any Error>
    }

    private struct State {
        var pool: PoolState<MariaDBConnection>
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state: Mutex<State>
    private let configuration: MariaDBConfiguration
    private let watch = ConnectionWatch()
    /// That of the connection that was opened last; 0 before the first.
    private let longest = Atomic<Int>(0)

    init(_ configuration: MariaDBConfiguration) {
        self.configuration = configuration
        let limits = configuration.limits
        state = Mutex(
            State(pool: PoolState(maximumConnections: limits.connections, maximumWaiters: limits.waiters)))
    }

    /// Lends a connection for the time of `body`, and cuts it off at the deadline unless `body` says otherwise.
    ///
    /// One that broke meanwhile is thrown away.
    ///
    /// - Parameter purpose: one that was used so last does not have to be set up anew.
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

    /// The connections at this moment.
    var counts: ConnectionCounts { state.withLock { $0.pool.counts } }

    func close() async {
        let (connections, waiting) = state.withLock { state in
            let closing = state.pool.close()
            return (closing.connections, closing.waiters.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in waiting { waiter.resume(.failure(Self.closed)) }
        for connection in connections { await connection.close() }
        await watch.stop()
    }

    private static let closed = StoreError(.unavailable, "the gateway is shutting down")
    private static let late = StoreError(.busy, "no connection to the database became free in time")
    private static let full = StoreError(.busy, "too many requests wait for a connection to the database")

    private func acquire(
        for purpose: TransactionKind, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> MariaDBConnection {
        let turn: Turn
        do {
            turn = try await withCheckedThrowingContinuation { continuation in
                if let result = enter(continuation, for: purpose, deadline) { continuation.resume(with: result) }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw Self.late
        }
        switch turn {
        case .use(let connection): return connection
        case .open: return try await open(deadline)
        }
    }

    /// Returns what the caller gets at once; nil where it has to wait.
    private func enter(
        _ continuation: CheckedContinuation<Turn, any Error>, for purpose: TransactionKind,
        _ deadline: ContinuousClock.Instant
    ) -> Result<Turn, any Error>? {
        state.withLock { state in
            state.lastWaiter += 1
            let id = state.lastWaiter
            switch state.pool.acquire(waiter: id, suits: { $0.wasUsed(for: purpose) }) {
            case .use(let connection): return .success(.use(connection))
            case .open: return .success(.open)
            case .refuseClosed: return .failure(Self.closed)
            case .refuseFull: return .failure(Self.full)
            case .wait:
                let timer = Task { [self] in
                    try await Task.sleep(until: deadline, clock: .continuous)
                    giveUp(id)
                }
                state.waiters[id] = Waiter(continuation: continuation, timer: timer)
                return nil
            }
        }
    }

    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { state in
            state.pool.giveUp(id) ? state.waiters.removeValue(forKey: id) : nil
        }
        waiter?.resume(.failure(Self.late))
    }

    /// Opens a connection; one that is there only after the deadline is for those who come later.
    private func open(_ deadline: ContinuousClock.Instant) async throws(StoreError) -> MariaDBConnection {
        let opening = Opening()
        Task {
            let outcome = await opened()
            if !opening.end(outcome), case .success(let connection) = outcome { await giveBack(connection) }
        }
        let alarm = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            opening.end(.failure(Self.slow))
        }
        defer { alarm.cancel() }
        return try await opening.outcome().get()
    }

    private static let slow = StoreError(.unavailable, "the database server does not take up connections in time")

    private func opened() async -> Opening.Outcome {
        do throws(StoreError) {
            let connection = try MariaDBConnection(configuration)
            watch.add(connection.health)
            // The server may greet and then fall silent.
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
        let (waiter, closing) = state.withLock { state -> (Waiter?, MariaDBConnection?) in
            switch state.pool.release(connection) {
            case .handOver(_, let id): (state.waiters.removeValue(forKey: id), nil)
            case .keep: (nil, nil)
            case .close(let connection): (nil, connection)
            }
        }
        waiter?.resume(.success(.use(connection)))
        await closing?.close()
    }

    private func discard(_ connection: MariaDBConnection) async {
        await passOn(connection)
        await connection.close()
    }

    /// A place became free without a connection in it; whoever waits longest opens its own.
    ///
    /// What lies idle is dropped with a connection that broke, because the server has probably gone away from under all
    /// of them.
    private func passOn(_ broken: MariaDBConnection?) async {
        let (waiter, dropped) = state.withLock { state in
            let dropped = broken == nil ? [] : state.pool.dropIdle()
            return (state.pool.discard().flatMap { state.waiters.removeValue(forKey: $0) }, dropped)
        }
        waiter?.resume(.success(.open))
        for connection in dropped { await connection.close() }
    }
}

extension ConnectionPool.Waiter {
    fileprivate func resume(_ result: Result<ConnectionPool.Turn, any Error>) {
        timer.cancel()
        continuation.resume(with: result)
    }
}
