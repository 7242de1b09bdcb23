internal import CMariaDB
import Glibc
import MergeCore
import RecordStore

/// One connection of the C client, used only on its connection's thread.
final class Handle {
    private let mysql: UnsafeMutablePointer<MYSQL>
    /// The thread that opened the handle and must close it.
    private let thread = pthread_self()
    private let place: String
    /// The prepared statements by their exact text, because `String` considers canonically equivalent texts equal.
    private var statements: [ExactText: PreparedStatement] = [:]
    private var useOrder: [ExactText] = []
    private let health: ConnectionHealth
    private let pipeline = Pipeline()
    /// True after a fatal error; nothing more may be sent.
    var isBroken: Bool { health.isBroken }
    let isMariaDB: Bool
    /// The largest packet that the server accepts; nil before the session has read it.
    var packet: PacketSize?
    /// The server's version number, such as 101119 for 10.11.19.
    let version: UInt

    private static let cachedStatements = 256

    init(_ configuration: MariaDBConfiguration, _ health: ConnectionHealth) throws(StoreError) {
        place = configuration.place
        self.health = health
        let limits = configuration.limits
        // The server's own statement limit comes first.
        let mysql = try ClientConnection.open(
            configuration, readSeconds: limits.statementSeconds + limits.lockWaitSeconds + 5)
        self.mysql = mysql
        health.watch(socket: mysql_get_socket(mysql))
        isMariaDB = mariadb_connection(mysql) != 0
        version = mysql_get_server_version(mysql)
    }

    deinit {
        statements.removeAll()
        // After the close, another file may have the socket's number.
        health.watch(socket: nil)
        mysql_close(mysql)
        health.note(pthread_equal(thread, pthread_self()) != 0 ? .onItsThread : .elsewhere)
    }

    /// Records if the error ends the connection, and returns it.
    func seen(_ error: StoreError) -> StoreError {
        if ServerError.isFatal(error.code) { health.giveUp() }
        guard health.wasCutOff, error.kind == .disconnected else { return error }
        return StoreError(
            .disconnected, "the database server at \(place) did not answer in time", code: error.code)
    }

    func error(of statement: UnsafeMutablePointer<MYSQL_STMT>) -> StoreError {
        seen(
            ServerError(
                code: mysql_stmt_errno(statement), state: String(cString: mysql_stmt_sqlstate(statement)),
                text: String(cString: mysql_stmt_error(statement)), place: place
            ).storeError)
    }

    func giveUp() { health.giveUp() }

    /// Runs a statement without values and rows, such as COMMIT.
    func command(_ sql: String) throws(StoreError) {
        pipeline.drain(self)
        guard mysql_real_query(mysql, sql, UInt(sql.utf8.count)) == 0 else {
            throw seen(ClientConnection.error(mysql, place))
        }
        if let result = mysql_store_result(mysql) { mysql_free_result(result) }
    }

    func ping() throws(StoreError) {
        pipeline.drain(self)
        guard mysql_ping(mysql) == 0 else { throw seen(ClientConnection.error(mysql, place)) }
    }

    /// Leaves the answers to the statements that `body` executes unread.
    func leavingAnswers(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        var flag: my_bool = 1
        mysql_options(mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &flag)
        defer {
            flag = 0
            mysql_options(mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &flag)
        }
        try body()
    }

    /// Returns the prepared statement of a text, prepared once; a full cache drops the oldest one.
    func prepared(_ sql: String) throws(StoreError) -> PreparedStatement {
        let text = ExactText(sql)
        if let known = statements[text] { return known }
        // Preparing a statement waits for its answer.
        pipeline.drain(self)
        guard let raw = mysql_stmt_init(mysql) else {
            throw StoreError(.other, "the MariaDB client library has no memory for a statement")
        }
        guard mysql_stmt_prepare(raw, sql, UInt(sql.utf8.count)) == 0 else {
            let error = error(of: raw)
            mysql_stmt_close(raw)
            throw error
        }
        if useOrder.count >= Self.cachedStatements { statements[useOrder.removeFirst()] = nil }
        let statement = PreparedStatement(raw)
        statements[text] = statement
        useOrder.append(text)
        return statement
    }

    /// Sends a statement; `receive` returns its answer.
    func send(_ statement: Statement) -> Ticket { pipeline.send(statement, on: self) }

    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] { try pipeline.receive(ticket, on: self) }

    /// True if every sent statement was answered and every answer received.
    var isAnswered: Bool { pipeline.isEmpty }

    /// Reads all remaining answers and drops them.
    func dropAnswers() { pipeline.drop(self) }

    func query(_ statement: Statement) throws(StoreError) -> [[Value]] {
        try run(statement) { prepared throws(StoreError) in
            try prepared.rows(statement.columns, hashing: statement.hashKey, on: self)
        }
    }

    func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows {
        try run(statement) { prepared throws(StoreError) in
            try prepared.hashes(statement, keeping: columns, on: self)
        }
    }

    /// Returns the reported types of a SELECT's columns; its rows are dropped.
    func signatures(_ sql: String) throws(StoreError) -> [ColumnSignature] {
        try run(Statement(sql: sql, binds: [])) { prepared in prepared.signatures() }
    }

    private func run<Rows>(
        _ statement: Statement, _ read: (PreparedStatement) throws(StoreError) -> Rows
    ) throws(StoreError) -> Rows {
        pipeline.drain(self)
        let prepared = try prepared(statement.sql)
        try prepared.execute(ParameterBuffers(statement.binds), on: self)
        do {
            return try read(prepared)
        } catch {
            forget(statement.sql)
            throw error
        }
    }

    /// Removes a statement that failed while its rows were read.
    ///
    /// The client library would wait for its remaining rows at the next execution.
    func forget(_ sql: String) {
        let text = ExactText(sql)
        statements[text] = nil
        useOrder.removeAll { $0 == text }
    }

    /// Prepares a statement without executing it, so that the server checks rights, columns and views.
    ///
    /// - Returns: the server's refusal; nil if there is none.
    func preparing(_ statement: Statement) -> StoreError? {
        pipeline.drain(self)
        do throws(StoreError) {
            _ = try prepared(statement.sql)
        } catch {
            return error
        }
        forget(statement.sql)
        return nil
    }

    func execute(_ statement: Statement) throws(StoreError) -> Execution {
        pipeline.drain(self)
        let prepared = try prepared(statement.sql)
        try prepared.execute(ParameterBuffers(statement.binds), on: self)
        try statement.check(rowsMet: prepared.rowsMet)
        return Execution(generatedKey: prepared.generatedKey)
    }
}
