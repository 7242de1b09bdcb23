package import MergeCore
package import RecordStore

/// The engine for MariaDB and MySQL over the C client: a pool of connections, each on its own thread.
package final class MariaDBEngine: RecordEngine {
    private let pool: ConnectionPool
    private let retries: Int

    /// - Throws: `StoreError` where the C client library is none that can be used.
    package init(_ configuration: MariaDBConfiguration) throws(StoreError) {
        try ClientLibrary.installed.check()
        pool = ConnectionPool(configuration)
        retries = configuration.limits.retries
    }

    /// The SQL of MariaDB.
    package var dialect: any Dialect { MariaDBDialect() }

    /// Runs a transaction that may write on a connection of the pool, again where the engine's contract says so.
    package func write<Answer: Sendable>(
        deadline: ContinuousClock.Instant, locking tables: [TableName],
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) -> Answer {
        try await repeating(deadline) { () async throws(StoreError) -> Answer in
            try await pool.withConnection(deadline: deadline) { connection async throws(StoreError) -> Answer in
                try await connection.write(locking: tables, body)
            }
        }
    }

    /// Runs one transaction after the other on the thread of one connection.
    package func series<Work: Sendable, Answer: Sendable>(
        of kind: TransactionKind, deadline: ContinuousClock.Instant,
        next: @escaping @Sendable (_ mayWait: Bool) -> Work?,
        done: @escaping @Sendable (Work, Result<Answer, StoreError>) -> Void,
        _ body: @escaping @Sendable (Work, any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) {
        try await pool.withConnection(deadline: deadline) { connection async throws(StoreError) in
            await connection.series(of: kind, next: next, done: done, body)
        }
    }

    /// Runs a transaction that reads from one snapshot, on a connection of the pool.
    package func read<Answer: Sendable>(
        deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await repeating(deadline) { () async throws(StoreError) -> Answer in
            try await pool.withConnection(deadline: deadline) { connection async throws(StoreError) -> Answer in
                try await connection.read(body)
            }
        }
    }

    /// Reads the schema of the tables from information_schema.
    package func schema(of tables: [TableName], deadline: ContinuousClock.Instant) async throws(StoreError)
        -> DatabaseSchema
    {
        try await repeating(deadline) { () async throws(StoreError) -> DatabaseSchema in
            try await pool.withConnection(deadline: deadline) {
                connection async throws(StoreError) -> DatabaseSchema in
                try await connection.schema(of: tables)
            }
        }
    }

    /// Asks the server for a sign of life; throws `StoreError` where it gives none.
    package func ping(deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await repeating(deadline) { () async throws(StoreError) in
            try await pool.withConnection(deadline: deadline) { connection async throws(StoreError) in
                try await connection.ping()
            }
        }
    }

    /// Closes the pool's connections, those in use once they come back.
    package func close() async {
        await pool.close()
    }

    /// Runs again what met another transaction, and once more what met a dead connection: nothing was committed.
    private func repeating<Answer: Sendable>(
        _ deadline: ContinuousClock.Instant, _ body: () async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        var attempt = 0
        while true {
            let error: StoreError
            do {
                return try await body()
            } catch let caught {
                error = caught
            }
            attempt += 1
            switch error.kind {
            // A lock that is held for long is no collision: waiting on would only fill the pool with those who wait.
            case .serialization where attempt <= (error.code == 1_205 ? 1 : retries) && ContinuousClock.now < deadline:
                // Full jitter, so that those who met once do not meet again.
                let bound = min(64, 1 << min(attempt, 6))
                try? await Task.sleep(for: .milliseconds(Int.random(in: 0...bound)))
            case .unavailable where attempt <= 2 && ServerError.isFatal(error.code) && ContinuousClock.now < deadline:
                continue
            case .serialization:
                throw StoreError(
                    .busy, "the rows stayed locked by others through \(attempt) attempts", code: error.code)
            default:
                throw error
            }
            if Task.isCancelled { throw StoreError(.busy, "the request was cancelled") }
        }
    }
}
