import MergeCore
import RecordStore
import Synchronization

/// An engine of which writing transactions fail as a test wants, the first faults first.
final class FaultyEngine: RecordEngine {
    enum Fault: Sendable {
        /// The transaction runs as it is.
        case passes
        /// The transaction fails before anything of it is committed.
        case fails(StoreError.Kind)
        /// The connection breaks during COMMIT, and the database has committed or not.
        case breaks(isCommitted: Bool)
    }

    private let engine: any RecordEngine
    private let faults = Mutex<[Fault]>([])

    init(_ engine: any RecordEngine) {
        self.engine = engine
    }

    var dialect: any Dialect { engine.dialect }

    /// Has the next transactions fail.
    func meet(_ next: [Fault]) { faults.withLock { $0 = next } }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await engine.withConnection(for: purpose, deadline: deadline) { connection throws(StoreError) in
            try body(FaultyConnection(connection) { self.faults.withLock { $0.isEmpty ? nil : $0.removeFirst() } })
        }
    }

    func close() async { await engine.close() }
}

private final class FaultyConnection: StoreConnection {
    private let connection: any StoreConnection
    private let next: () -> FaultyEngine.Fault?

    init(_ connection: any StoreConnection, next: @escaping () -> FaultyEngine.Fault?) {
        self.connection = connection
        self.next = next
    }

    var isUsable: Bool { connection.isUsable }
    var isExclusive: Bool { connection.isExclusive }

    func wait(as patience: Patience) { connection.wait(as: patience) }

    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer {
        switch next() {
        case nil, .passes: return try connection.write(locking: tables, body)
        case .fails(let kind): throw StoreError(kind, "as the test wants")
        case .breaks(let isCommitted):
            _ = try connection.write(locking: tables) { session throws(StoreError) -> Ending<Answer> in
                let answer = try body(session).answer
                return isCommitted ? .commit(answer) : .rollback(answer)
            }
            throw StoreError(.unknownOutcome, "the connection broke during COMMIT, as the test wants")
        }
    }

    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        try connection.read(body)
    }

    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema { try connection.schema(of: tables) }

    func refusals(of statements: [Statement]) throws(StoreError) -> [StoreError?] {
        try connection.refusals(of: statements)
    }

    func ping() throws(StoreError) { try connection.ping() }
}
