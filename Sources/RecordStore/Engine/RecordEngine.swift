package import MergeCore

/// A database that contains records.
///
/// Both engines pass one test suite, which is the contract of this protocol. `write` and `read` run one transaction
/// with retries. A caller with many transactions uses `withConnection`.
package protocol RecordEngine: Sendable {
    /// The SQL of the database.
    var dialect: any Dialect { get }

    /// The use of the connections; nil for a database that is a file.
    var connections: ConnectionCounts? { get }

    /// The server's log of row changes; nil if the database has none.
    var rowLog: (any RowLog)? { get }

    /// The known limit of the bytes of a value; nil if there is none.
    var longestValue: Int? { get }

    /// Lends a connection to `body`, which runs on a thread that may block, never on a cooperative one.
    ///
    /// - Parameters:
    ///   - deadline: for getting a connection and for its statements, unless `body` sets another one.
    ///   - body: uses the connection, which must not escape.
    /// - Throws: the error of `body`, or the reason why no connection was free; then `body` did not run.
    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer

    /// Makes this process the only gateway on a database file, until it ends or closes the engine.
    ///
    /// - Throws: `StoreError`; of the kind `busy` if another gateway serves the file.
    func claim() throws(StoreError)

    /// Closes all connections; calls that wait for a connection fail.
    func close() async
}

/// A borrowed connection, confined to the thread of the borrower's closure.
package protocol StoreConnection: AnyObject {
    /// False after the connection broke.
    var isUsable: Bool { get }

    /// True if no other caller waits for this connection.
    ///
    /// Its borrower may run several transactions on it and wait for more work in between.
    var isExclusive: Bool { get }

    /// Sets the deadlines of all further statements; the default is the deadline of `withConnection`.
    func wait(as patience: Patience)

    /// Runs `body` once in a transaction that may write.
    ///
    /// - Parameter tables: tables to lock completely, because one has no transactions; empty if all have.
    /// - Throws: `StoreError`; nothing was written unless its kind is `unknownOutcome`.
    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer

    /// Runs `body` once in a snapshot of committed rows.
    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer

    /// Reads the schema of tables; a missing table is missing from the result.
    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema

    /// Prepares statements without executing them, so that nothing is written.
    ///
    /// - Returns: the error of each statement; nil if the database accepts it.
    func refusals(of statements: [Statement]) throws(StoreError) -> [StoreError?]

    /// Checks that the database responds.
    func ping() throws(StoreError)
}

/// The purpose of a transaction.
package enum TransactionKind: Sendable {
    /// It may write, and ends as its body returns.
    case write
    /// It reads from one snapshot of committed rows and changes nothing.
    case snapshot
}

/// The requested end of a transaction.
package enum Ending<Answer> {
    case commit(Answer)
    case rollback(Answer)

    /// The answer in both cases.
    package var answer: Answer {
        switch self {
        case .commit(let answer), .rollback(let answer): answer
        }
    }
}

extension Ending: Sendable where Answer: Sendable {}

extension RecordEngine {
    /// A file accepts values of any length that a request can have.
    package var longestValue: Int? { nil }

    /// A file has no log.
    package var rowLog: (any RowLog)? { nil }

    /// A server accepts any number of gateways.
    package func claim() throws(StoreError) {}

    /// A file has no pool.
    package var connections: ConnectionCounts? { nil }

    /// Runs `body` in one transaction that may write, and retries it if that can help.
    ///
    /// The body must have no effects outside the session. It runs again after a deadlock, a lock timeout, a snapshot
    /// conflict, or a connection that breaks before COMMIT.
    ///
    /// - Throws: `StoreError`; nothing was written unless its kind is `unknownOutcome`.
    package func write<Answer: Sendable>(
        deadline: ContinuousClock.Instant, locking tables: [TableName] = [],
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) -> Answer {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .write, deadline: deadline) { connection throws(StoreError) in
                try connection.write(locking: tables, body)
            }
        }
    }

    /// Runs `body` in one snapshot of committed rows, and retries it if that can help.
    package func read<Answer: Sendable>(
        deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.read(body)
            }
        }
    }

    /// Reads the schema of tables; a missing table is missing from the result.
    package func schema(
        of tables: [TableName], deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> DatabaseSchema {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.schema(of: tables)
            }
        }
    }

    /// Prepares statements without executing them, as in `StoreConnection.refusals`.
    package func refusals(
        of statements: [Statement], deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [StoreError?] {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.refusals(of: statements)
            }
        }
    }

    /// Checks that the database responds.
    package func ping(deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.ping()
            }
        }
    }
}

/// A store whose transactions can also run synchronously, on a thread that may block.
///
/// A transaction of another store uses it to store something before it commits.
package protocol WaitingStore: RecordEngine, AnyObject {
    /// True if `claim` made this process the only gateway on the store.
    var isClaimed: Bool { get }

    /// Runs `body` in one transaction that commits unless `body` throws.
    /// - Throws: `StoreError`; nothing was written.
    func writeNow<Answer>(
        _ body: (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer
}
