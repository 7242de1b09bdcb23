import MergeCore
package import RecordStore

/// The engine for MariaDB and MySQL over the C client: a pool of connections, each with its own thread.
package final class MariaDBEngine: RecordEngine {
    private let pool: ConnectionPool
    private let configuration: MariaDBConfiguration

    /// - Throws: `StoreError` if the C client library cannot be used.
    package init(_ configuration: MariaDBConfiguration) throws(StoreError) {
        try ClientLibrary.installed.check()
        self.configuration = configuration
        pool = ConnectionPool(configuration)
    }

    /// The SQL of MariaDB.
    package var dialect: any Dialect { MariaDBDialect() }

    /// The binary log.
    package var rowLog: (any RowLog)? { MariaDBRowLog(engine: self, configuration: configuration) }

    /// The use of the pool's connections.
    package var connections: ConnectionCounts? { pool.counts }

    /// The limit of the connection that was opened last.
    package var longestValue: Int? { pool.longestValue }

    /// Lends a connection of the pool; `body` runs on its thread.
    package func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await pool.withConnection(for: purpose, deadline: deadline) {
            connection async throws(StoreError) -> Answer in
            try await connection.lend(for: purpose, body)
        }
    }

    /// Closes the pool's connections; connections in use are closed when they return.
    package func close() async {
        await pool.close()
    }
}
