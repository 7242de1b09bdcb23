import MergeCore
import RecordStore

/// The state of one connection: its settings and its open transaction.
final class MariaDBSession: StoreSession {
    private let handle: Handle
    /// True if the server logs by STATEMENT; then writes run under REPEATABLE READ.
    private let writesUnderRepeatableRead: Bool
    /// The kind of transaction that the session is set up for.
    private var kind = TransactionKind.write
    private var holdsTables = false
    private let health: ConnectionHealth
    let packet: PacketSize
    /// The seconds that a transaction may wait for rows in all, and the session's current setting.
    private let lockSeconds: Int
    private var setSeconds: Int
    /// The beginning of this time.
    private var start = ContinuousClock.now

    var isBroken: Bool { handle.isBroken }
    var isMariaDB: Bool { handle.isMariaDB }
    var version: UInt { handle.version }

    init(_ configuration: MariaDBConfiguration, _ health: ConnectionHealth) throws(StoreError) {
        let handle = try Handle(configuration, health)
        let limits = configuration.limits
        self.health = health
        lockSeconds = Int(limits.lockWaitSeconds)
        setSeconds = lockSeconds
        // Strict mode, no effect of a global ANSI mode, and no number for an explicit 0 in an AUTO_INCREMENT column.
        // Every user may change these settings for a session.
        try handle.command(
            """
            SET SESSION sql_mode = \
            'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION', \
            time_zone = '+00:00', innodb_lock_wait_timeout = \(limits.lockWaitSeconds), \
            lock_wait_timeout = \(limits.lockWaitSeconds), autocommit = 0, \(Self.fixed)
            """)
        if handle.isMariaDB {
            // The cache compares by the collation, so one spelling of a reference would get the row of another.
            try handle.command(
                """
                SET SESSION check_constraint_checks = 1, system_versioning_asof = DEFAULT, \
                optimizer_switch = 'subquery_cache=off'
                """)
        }
        try handle.command(
            handle.isMariaDB
                ? "SET SESSION max_statement_time = \(limits.statementSeconds)"
                : "SET SESSION max_execution_time = \(limits.statementSeconds * 1_000)")
        let server = try Self.serverSettings(handle)
        writesUnderRepeatableRead = server.logsByStatement
        handle.packet = server.packet
        packet = server.packet
        self.handle = handle
        try setUp(for: .write)
    }

    /// Variables with which a server would hide rows, ignore constraints or refuse statements of the gateway.
    ///
    /// Their global values are those of an operator for other programs.
    private static let fixed = """
        sql_select_limit = 18446744073709551615, sql_auto_is_null = 0, sql_safe_updates = 0, sql_big_selects = 1, \
        foreign_key_checks = 1, unique_checks = 1, completion_type = 0
        """

    /// Sets up the session for the following transactions.
    ///
    /// With autocommit off, the first statement begins a transaction. In a read-only transaction, the first plain read
    /// creates the snapshot.
    private func setUp(for kind: TransactionKind) throws(StoreError) {
        // A server that logs by STATEMENT refuses writes under READ COMMITTED (error 1665).
        let isRepeatable = kind == .snapshot || writesUnderRepeatableRead
        try handle.command(
            "SET SESSION TRANSACTION ISOLATION LEVEL " + (isRepeatable ? "REPEATABLE READ" : "READ COMMITTED")
                + (kind == .snapshot ? ", READ ONLY" : ", READ WRITE"))
        self.kind = kind
    }

    private static func serverSettings(
        _ handle: Handle
    ) throws(StoreError) -> (logsByStatement: Bool, packet: PacketSize) {
        let row = try handle.query(
            Statement(
                sql: "SELECT @@log_bin, @@binlog_format, CAST(@@max_allowed_packet AS SIGNED)", binds: [],
                columns: [
                    Column(name: "log_bin", type: .integer(0...1), isNullable: true),
                    Column(name: "binlog_format", type: .text(TextType()), isNullable: true),
                    Column(name: "max_allowed_packet", type: .integer(0...Int128(Int64.max)), isNullable: true),
                ])
        ).first
        guard let row, case .integer(let bytes) = row[2] else {
            throw StoreError(.unavailable, "the database server does not report max_allowed_packet")
        }
        let logsByStatement = Array(row.prefix(2)) == [.integer(1), .text(ExactText("STATEMENT"))]
        return (logsByStatement, PacketSize(bytes: Int(clamping: bytes)))
    }

    /// Prepares statements without executing them.
    ///
    /// - Returns: the server's refusals, parallel to the statements.
    func preparing(_ statements: [Statement]) throws(StoreError) -> [StoreError?] {
        if kind != .write { try setUp(for: .write) }
        return statements.map { handle.preparing($0) }
    }

    func wait(as patience: Patience) {
        health.expect(by: patience.end)
        start = patience.start
    }

    /// Begins to count the time for waiting on rows.
    func waitingBegins() { start = .now }

    /// Limits a statement's wait for rows to the transaction's remaining time, but at least one second.
    ///
    /// The server's own limit is for each statement.
    private func boundLockWait() throws(StoreError) {
        guard kind == .write else { return }
        let waited = ContinuousClock.now - start
        if waited < .seconds(1), setSeconds == lockSeconds { return }
        let left = max(1, lockSeconds - Int(clamping: waited.components.seconds))
        guard left != setSeconds else { return }
        try handle.command("SET SESSION innodb_lock_wait_timeout = \(left), lock_wait_timeout = \(left)")
        setSeconds = left
    }

    func ping() throws(StoreError) { try handle.ping() }

    /// In a writing transaction, a plain read would return an old snapshot.
    var mustLockReads: Bool { writesUnderRepeatableRead && kind == .write }

    /// - Parameter tables: tables to lock completely; empty for an ordinary transaction.
    func begin(locking tables: [TableName]) throws(StoreError) {
        if kind != .write { try setUp(for: .write) }
        try boundLockWait()
        guard !tables.isEmpty else { return }
        // LOCK TABLES ends an open transaction; with autocommit off, the next one begins by itself (MariaDB manual,
        // LOCK TABLES).
        let list = tables.map { MariaDBDialect().quoted($0) + " WRITE" }.joined(separator: ", ")
        holdsTables = true
        do {
            try handle.command("LOCK TABLES " + list)
        } catch {
            abandon()
            throw error
        }
    }

    private func letTablesGo() throws(StoreError) {
        guard holdsTables else { return }
        holdsTables = false
        try handle.command("UNLOCK TABLES")
    }

    func beginSnapshot() throws(StoreError) {
        if kind != .snapshot { try setUp(for: .snapshot) }
    }

    /// - Throws: `unknownOutcome` if the connection broke during COMMIT.
    func commit() throws(StoreError) {
        guard handle.isAnswered else {
            abandon()
            throw .unanswered
        }
        // On a connection that was cut off before, COMMIT was certainly not sent.
        guard !handle.isBroken else { throw StoreError(.disconnected, "the connection to the database broke") }
        do {
            try handle.command("COMMIT")
        } catch {
            if handle.isBroken {
                throw StoreError(
                    .unknownOutcome, "the connection to the database broke during COMMIT", code: error.code)
            }
            abandon()
            throw error
        }
        do {
            try letTablesGo()
        } catch {
            // The transaction is committed; only the connection cannot be used again.
            handle.giveUp()
        }
    }

    /// Rolls the transaction back.
    ///
    /// If that fails, it gives up the connection, so that the server rolls back.
    func abandon() {
        handle.dropAnswers()
        guard !handle.isBroken else { return }
        do {
            try handle.command("ROLLBACK")
            try letTablesGo()
        } catch {
            handle.giveUp()
        }
    }

    func query(_ statement: Statement) throws(StoreError) -> [[Value]] {
        try boundLockWait()
        return try handle.query(statement)
    }

    /// Returns the reported types of a SELECT's columns; its rows are dropped.
    func signatures(_ sql: String) throws(StoreError) -> [ColumnSignature] { try handle.signatures(sql) }

    func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows {
        try handle.hashes(statement, keeping: columns)
    }

    func execute(_ statement: Statement) throws(StoreError) -> Execution {
        try boundLockWait()
        return try handle.execute(statement)
    }

    func send(_ statement: Statement) -> Ticket {
        // If the limit cannot be set, the connection is broken, and the statement reports it.
        try? boundLockWait()
        return handle.send(statement)
    }

    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] { try handle.receive(ticket) }

    func set(_ savepoint: Savepoint) throws(StoreError) { try handle.command("SAVEPOINT " + savepoint.rawValue) }

    func rollBack(to savepoint: Savepoint) throws(StoreError) {
        try handle.command("ROLLBACK TO SAVEPOINT " + savepoint.rawValue)
    }

    func release(_ savepoint: Savepoint) throws(StoreError) {
        try handle.command("RELEASE SAVEPOINT " + savepoint.rawValue)
    }
}
