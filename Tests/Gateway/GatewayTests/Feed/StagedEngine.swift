import MergeCore
import RecordStore
import Synchronization
import TestSupport

/// Controls the transactions of a test's gateway: when it is killed, and how it computes digests.
///
/// For the database a killed gateway sends no more statements, and its open transactions are rolled back. A stage can
/// do this at each step, which a killed process does only at random ones.
final class Stage: Sendable {
    private struct State {
        /// The remaining steps after a scan has found a difference; nil if the gateway is not killed.
        var left: Int?
        var hasFound = false
        /// The statement at which the steps begin.
        var trigger = ""
        /// The values of that statement; empty for any values.
        var binds: [Bind] = []
        /// The transaction of that statement.
        ///
        /// While it is open, only its steps count.
        var transaction: ObjectIdentifier?
        var death: String?
        /// The number of a scan's reads of which the last fails; nil if none fails.
        var interval: Int?
        var reads = 0
        var beforeCommit: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let (ended, end) = AsyncStream<Void>.makeStream()
    /// Digests are sums of the values, which remain equal if two rows exchange their values.
    let isLinear: Bool

    init(isLinear: Bool = false) {
        self.isLinear = isLinear
    }

    /// Kills the gateway a number of steps after a scan finds its next difference.
    func die(at step: Int) { die(at: step, from: "SELECT marks") }

    /// Lets the gateway die at a step of its scan or of its reader, counted from a statement that contains a text.
    func die(at step: Int, from text: String) { state.withLock { ($0.left, $0.trigger) = (step, text) } }

    /// Lets the gateway die at a step of its scan or of its reader, counted from a statement.
    func die(at step: Int, from statement: Statement) {
        state.withLock { ($0.left, $0.trigger, $0.binds) = (step, statement.sql, statement.binds) }
    }

    /// Runs a check before each commit of the scan or of the reader.
    func beforeCommit(_ check: @escaping @Sendable () -> Void) { state.withLock { $0.beforeCommit = check } }

    fileprivate func commits(isOfScan: Bool) { if isOfScan { state.withLock { $0.beforeCommit }?() } }

    /// Makes one of a number of reads of a scan's rows fail, repeatedly.
    func interrupt(every interval: Int) { state.withLock { ($0.interval, $0.reads) = (interval, 0) } }

    /// Counts a read of rows.
    ///
    /// - Throws: `StoreError` if this read has to fail.
    fileprivate func read() throws(StoreError) {
        let fails = state.withLock { state in
            guard let interval = state.interval else { return false }
            state.reads += 1
            return state.reads % interval == 0
        }
        if fails { throw StoreError(.unavailable, "as the test wants") }
    }

    /// The statement at which the gateway was killed; nil if it was not.
    var death: String? { state.withLock { $0.death } }

    /// Waits for the death.
    func dies() async {
        for await _ in ended { return }
    }

    /// Counts a step.
    ///
    /// - Parameter isOfScan: the step belongs to a transaction of the scan.
    /// - Throws: `StoreError` if the gateway was killed.
    fileprivate func step(
        _ name: String, _ binds: [Bind] = [], in transaction: ObjectIdentifier, isOfScan: Bool
    ) throws(StoreError) {
        let isDead = state.withLock { state in
            if state.death != nil { return true }
            guard isOfScan, let left = state.left else { return false }
            // Digests are read only if a range differs.
            let isTrigger = name.contains(state.trigger) && (state.binds.isEmpty || state.binds == binds)
            if !state.hasFound, isTrigger { (state.hasFound, state.transaction) = (true, transaction) }
            guard state.hasFound, state.transaction.map({ $0 == transaction }) ?? true else { return false }
            state.left = left - 1
            if left == 1 {
                state.death = name
                end.finish()
            }
            return left == 1
        }
        if isDead { throw StoreError(.other, "the gateway is dead") }
    }

    /// Ends a transaction.
    fileprivate func end(_ transaction: ObjectIdentifier) {
        state.withLock { if $0.transaction == transaction { $0.transaction = nil } }
    }

    /// The linear digest of a row; nil if digests are normal.
    fileprivate func digest(of row: some Sequence<Value>) -> UInt64? {
        guard isLinear else { return nil }
        var sum: UInt64 = 0
        for (position, value) in row.enumerated() {
            if case .integer(let number) = value {
                sum &+= UInt64(truncatingIfNeeded: number) &* UInt64(position + 1)
            }
        }
        return sum
    }
}

/// An engine whose transactions run on a stage.
struct StagedEngine: RecordEngine {
    let engine: any RecordEngine
    let stage: Stage

    var dialect: any Dialect { engine.dialect }
    var connections: ConnectionCounts? { engine.connections }
    var rowLog: (any RowLog)? { engine.rowLog }
    var longestValue: Int? { engine.longestValue }

    func claim() throws(StoreError) { try engine.claim() }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await engine.withConnection(for: purpose, deadline: deadline) { [stage] connection throws(StoreError) in
            try body(StagedConnection(connection, stage))
        }
    }

    func close() async { await engine.close() }
}

extension TestDatabase {
    /// Opens the database, with the stage if there is one.
    func engine(journal: Bool, on stage: Stage?) throws -> any RecordEngine {
        let own = try engine(journal: journal)
        return stage.map { StagedEngine(engine: own, stage: $0) } ?? own
    }
}

private final class StagedConnection: StoreConnection {
    private let connection: any StoreConnection
    private let stage: Stage

    init(_ connection: any StoreConnection, _ stage: Stage) {
        self.connection = connection
        self.stage = stage
    }

    var isUsable: Bool { connection.isUsable }
    var isExclusive: Bool { connection.isExclusive }
    func wait(as patience: Patience) { connection.wait(as: patience) }

    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer {
        try connection.write(locking: tables) { [stage] session throws(StoreError) in
            let staged = StagedSession(session, stage)
            defer { stage.end(ObjectIdentifier(staged)) }
            let ending = try body(staged)
            if case .commit = ending { try staged.commit() }
            return ending
        }
    }

    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        try connection.read { [stage] session throws(StoreError) in
            let staged = StagedSession(session, stage)
            defer { stage.end(ObjectIdentifier(staged)) }
            return try body(staged)
        }
    }

    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema { try connection.schema(of: tables) }
    func refusals(of statements: [Statement]) throws(StoreError) -> [StoreError?] {
        try connection.refusals(of: statements)
    }
    func ping() throws(StoreError) { try connection.ping() }
}

private final class StagedSession: StoreSession {
    private let session: any StoreSession
    private let stage: Stage
    private var isOfScan = false
    private var refused: Set<Ticket> = []
    private var hashed: Set<Ticket> = []

    init(_ session: any StoreSession, _ stage: Stage) {
        self.session = session
        self.stage = stage
    }

    private func step(_ statement: Statement) throws(StoreError) {
        if statement.sql.contains("scan") || statement.sql.contains("shown") { isOfScan = true }
        try stage.step(statement.sql, statement.binds, in: ObjectIdentifier(self), isOfScan: isOfScan)
    }

    /// The step between the last statement and the end of the transaction.
    func commit() throws(StoreError) {
        stage.commits(isOfScan: isOfScan)
        try stage.step("COMMIT", in: ObjectIdentifier(self), isOfScan: isOfScan)
    }

    func query(_ statement: Statement) throws(StoreError) -> [[Value]] {
        try step(statement)
        let rows = try session.query(statement)
        return statement.hashKey == nil ? rows : rows.map(restaged)
    }

    /// A row with the digest of the stage, which follows the values.
    private func restaged(_ row: [Value]) -> [Value] {
        stage.digest(of: row.dropLast()).map { row.dropLast() + [.integer(Int128($0))] } ?? row
    }

    func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows {
        isOfScan = true
        try step(statement)
        try stage.read()
        guard stage.isLinear else { return try session.hashes(statement, keeping: columns) }
        var hashed = HashedRows()
        for row in try session.query(statement) {
            hashed.digests.append(stage.digest(of: row.prefix(statement.columns.count)) ?? 0)
            hashed.values += columns.map { row[$0] }
        }
        return hashed
    }

    func execute(_ statement: Statement) throws(StoreError) -> Execution {
        try step(statement)
        return try session.execute(statement)
    }

    func send(_ statement: Statement) -> Ticket {
        do throws(StoreError) {
            try step(statement)
        } catch {
            let ticket = Ticket(number: -1 - refused.count)
            refused.insert(ticket)
            return ticket
        }
        let ticket = session.send(statement)
        if statement.hashKey != nil { hashed.insert(ticket) }
        return ticket
    }

    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] {
        if refused.contains(ticket) { throw StoreError(.other, "the gateway is dead") }
        let rows = try session.receive(ticket)
        return hashed.contains(ticket) ? rows.map(restaged) : rows
    }

    func set(_ savepoint: Savepoint) throws(StoreError) { try session.set(savepoint) }
    func rollBack(to savepoint: Savepoint) throws(StoreError) { try session.rollBack(to: savepoint) }
    func release(_ savepoint: Savepoint) throws(StoreError) { try session.release(savepoint) }
    var mustLockReads: Bool { session.mustLockReads }
}
