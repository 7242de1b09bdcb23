package import MergeCore

/// A database that holds records.
///
/// Both engines pass one compat suite, which is this protocol's contract. Transactions are run with `write` and `read`,
/// which go by the one policy on what is run again; whoever runs many on one connection borrows it.
package protocol RecordEngine: Sendable {
    /// The SQL that the database understands.
    var dialect: any Dialect { get }

    /// The connections at this moment; nil for a database that is a file.
    var connections: ConnectionCounts? { get }

    /// The bytes of the longest value that the database accepts, as far as they are known; nil without such a bound.
    var longestValue: Int? { get }

    /// Lends a connection for the time of `body`, which runs where it may block: never on a cooperative thread.
    ///
    /// - Parameters:
    ///   - purpose: of the transactions that it is for.
    ///   - deadline: by when a connection has to be free, and what runs on it has ended, unless its borrower says otherwise.
    ///   - body: uses the connection, which it must not let escape.
    /// - Throws: a `StoreError`: that of `body`, or one that tells why no connection could be had; then `body` did not run.
    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer

    /// Makes this engine's process the only gateway on a database that is a file, until the engine is closed or the
    /// process ends. A database server accepts any number of gateways.
    ///
    /// - Throws: `StoreError`; of the kind `busy` if another gateway serves the file.
    func claim() throws(StoreError)

    /// Closes every connection; calls that wait for one fail.
    func close() async
}

/// A connection that is lent, confined to the thread on which the borrower's closure runs.
package protocol StoreConnection: AnyObject {
    /// False once the connection broke.
    var isUsable: Bool { get }

    /// Nobody else waits for this very connection, so its borrower may stay on it from one transaction to the next, and
    /// wait there for more to do.
    var isExclusive: Bool { get }

    /// Bounds what runs on it from now on; as long as it is lent, that is until the deadline that it was asked for with.
    func wait(as patience: Patience)

    /// Runs `body` in one transaction that may write, once.
    ///
    /// - Parameter tables: tables to lock as a whole for the time of the transaction, because one of them knows no
    ///   transactions; empty where all do.
    /// - Throws: `StoreError`; nothing was written unless its kind is `unknownOutcome`.
    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer

    /// Runs `body` in one snapshot that sees only committed rows, once.
    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer

    /// Reads what the schema says of some tables; a table that is missing is missing from the answer.
    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema

    /// Tries statements without executing them, so that no trigger runs and nothing is written.
    ///
    /// - Returns: what the database refuses of each, parallel to the statements; nil for one that it accepts.
    func refusals(of statements: [Statement]) throws(StoreError) -> [StoreError?]

    /// Asks the database for a sign of life.
    func ping() throws(StoreError)
}

/// The purpose of a transaction.
package enum TransactionKind: Sendable {
    /// It may write, and ends as its body says.
    case write
    /// It reads from one snapshot that sees only committed rows, and leaves nothing behind.
    case snapshot
}

/// The end that a transaction is to have.
package enum Ending<Answer> {
    case commit(Answer)
    case rollback(Answer)

    /// The answer, however the transaction is to end.
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

    /// A server accepts any number of gateways.
    package func claim() throws(StoreError) {}

    /// A file has no pool.
    package var connections: ConnectionCounts? { nil }

    /// Runs `body` in one transaction that may write, again where that is of use.
    ///
    /// The body is pure but for the session, and runs again from the start where the database says deadlock, lock
    /// timeout or snapshot conflict, or the connection breaks before COMMIT; so it must not keep state outside.
    ///
    /// - Parameter tables: as `StoreConnection.write` takes them.
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

    /// Runs `body` in one snapshot that sees only committed rows, again where that is of use.
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

    /// Reads what the schema says of some tables; a table that is missing is missing from the answer.
    package func schema(
        of tables: [TableName], deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> DatabaseSchema {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.schema(of: tables)
            }
        }
    }

    /// Tries statements without executing them, as `StoreConnection.refusals` does.
    package func refusals(
        of statements: [Statement], deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [StoreError?] {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.refusals(of: statements)
            }
        }
    }

    /// Asks the database for a sign of life.
    package func ping(deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
            try await withConnection(for: .snapshot, deadline: deadline) { connection throws(StoreError) in
                try connection.ping()
            }
        }
    }
}

/// A store whose transactions can also run while the caller waits, on a thread that may block.
///
/// It is what a transaction of another store uses that has to know, before it commits, that something is kept.
package protocol WaitingStore: RecordEngine, AnyObject {
    /// True if `claim` has made this process the only gateway on the store.
    var isClaimed: Bool { get }

    /// Runs `body` in one transaction that is committed unless it throws.
    /// - Throws: `StoreError`; nothing was written.
    func writeNow<Answer>(
        _ body: (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer
}
