internal import GRDB
internal import GRDBSQLite
import MergeCore
import RecordStore

/// The open transaction on GRDB's connection.
///
/// Values use SQLite's own functions, because GRDB ends a text at its first NUL.
final class SQLiteSession: StoreSession {
    private let database: Database
    /// The answers to sent statements, which run at once.
    private var answers: [Result<[[Value]], StoreError>?] = []
    /// The savepoints that are set, from the outside in.
    private var savepoints: [Savepoint] = []
    /// The reason why the transaction was rolled back; nil while it is open.
    private var end: StoreError?

    init(_ database: Database) {
        self.database = database
    }

    /// A writing transaction locks the whole file, so its reads are current.
    var mustLockReads: Bool { false }

    func query(_ statement: RecordStore.Statement) throws(StoreError) -> [[Value]] {
        try run(statement) { raw throws(StoreError) in
            var row: [Value] = []
            row.reserveCapacity(statement.columns.count + 1)
            for (index, column) in statement.columns.enumerated() {
                row.append(try StoredValue(raw, Int32(index)).value(of: column))
            }
            if let key = statement.hashKey { row.append(.integer(Int128(StoredValue.hash(raw, key)))) }
            return row
        }
    }

    func hashes(_ statement: RecordStore.Statement, keeping kept: [Int]) throws(StoreError) -> HashedRows {
        guard let key = statement.hashKey else { throw StoreError(.other, "rows are to be hashed without a key") }
        var hashed = HashedRows()
        let rows = try run(statement) { raw throws(StoreError) in
            hashed.digests.append(StoredValue.hash(raw, key))
            do throws(StoreError) {
                for index in kept {
                    hashed.values.append(try StoredValue(raw, Int32(index)).value(of: statement.columns[index]))
                }
            } catch {
                try hashed.noteUnreadable(width: kept.count, because: error)
            }
            return []
        }
        guard rows.count == hashed.digests.count else { throw StoreError(.other, "a row was passed over") }
        return hashed
    }

    func send(_ statement: RecordStore.Statement) -> Ticket {
        do throws(StoreError) {
            if statement.columns.isEmpty {
                _ = try execute(statement)
                answers.append(.success([]))
            } else {
                answers.append(.success(try query(statement)))
            }
        } catch {
            answers.append(.failure(error))
        }
        return Ticket(number: answers.count - 1)
    }

    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] {
        guard answers.indices.contains(ticket.number), let answer = answers[ticket.number] else {
            throw StoreError(.other, "an answer was asked for twice")
        }
        answers[ticket.number] = nil
        return try answer.get()
    }

    /// - Throws: if an answer was not received.
    func checkAnswered() throws(StoreError) {
        if answers.contains(where: { $0 != nil }) { throw .unanswered }
    }

    func execute(_ statement: RecordStore.Statement) throws(StoreError) -> Execution {
        _ = try run(statement) { _ throws(StoreError) in [] }
        try statement.check(rowsMet: Int(sqlite3_changes(database.sqliteConnection)))
        return Execution(generatedKey: Int128(database.lastInsertedRowID))
    }

    /// Returns the prepared statement of a text.
    ///
    /// The cache of GRDB considers canonically equivalent texts equal, so it is for ASCII only.
    private static func prepared(_ sql: String, in database: Database) throws -> GRDB.Statement {
        let isASCII = sql.utf8.allSatisfy { $0 < 0x80 }
        return isASCII ? try database.cachedStatement(sql: sql) : try database.makeStatement(sql: sql)
    }

    private func run(
        _ statement: RecordStore.Statement, _ row: (OpaquePointer) throws(StoreError) -> [Value]
    ) throws(StoreError) -> [[Value]] {
        if let end { throw end }
        let deleting = statement.sql.hasPrefix("DELETE")
        let prepared: GRDB.Statement
        do {
            prepared = try Self.prepared(statement.sql, in: database)
        } catch {
            throw SQLiteError.storeError(error)
        }
        let raw = prepared.sqliteStatement
        sqlite3_reset(raw)
        defer {
            sqlite3_reset(raw)
            sqlite3_clear_bindings(raw)
        }
        for (index, bind) in statement.binds.enumerated() {
            guard Self.bind(bind, to: raw, at: Int32(index + 1)) == SQLITE_OK else { throw lastError(deleting) }
        }
        var rows: [[Value]] = []
        var isChecked = false
        while true {
            let result = sqlite3_step(raw)
            // If the schema has changed, SQLite prepares a statement again at its first step.
            if !isChecked, result == SQLITE_ROW || result == SQLITE_DONE {
                try Self.check(statement.columns, against: raw)
                isChecked = true
            }
            switch result {
            case SQLITE_ROW: rows.append(try row(raw))
            case SQLITE_DONE: return rows
            default:
                let error = lastError(deleting)
                if isExhausted(statement) { end = Self.exhausted }
                throw end ?? error
            }
        }
    }

    /// - Throws: `StoreError` of the kind `schemaChanged` if a column differs from the schema that was read.
    private static func check(_ columns: [MergeCore.Column], against raw: OpaquePointer) throws(StoreError) {
        if columns.isEmpty { return }
        guard Int(sqlite3_column_count(raw)) == columns.count else {
            throw StoreError(.schemaChanged, "a SELECT returned another number of columns than it was asked for")
        }
        for (index, column) in columns.enumerated() {
            guard let known = column.signature, known != ColumnSignature(raw, Int32(index)) else { continue }
            throw StoreError(
                .schemaChanged, "column “\(column.name)” has another declared type than when the schema was read")
        }
    }

    /// Returns true if SQLite reports a full disk because it has no number left for a new row.
    ///
    /// It then rolls the whole transaction back.
    private func isExhausted(_ statement: RecordStore.Statement) -> Bool {
        let connection = database.sqliteConnection
        guard statement.sql.hasPrefix("INSERT"), sqlite3_errcode(connection) == SQLITE_FULL else { return false }
        // GRDB runs no statement in a transaction that was rolled back.
        var raw: OpaquePointer?
        let sql = "SELECT 1 FROM main.sqlite_sequence WHERE seq >= 9223372036854775807"
        guard sqlite3_prepare_v2(connection, sql, -1, &raw, nil) == SQLITE_OK else { return false }
        defer { sqlite3_finalize(raw) }
        return sqlite3_step(raw) == SQLITE_ROW
    }

    private static let exhausted = StoreError(
        .constraint(ConstraintViolation(.exhausted)), "a table that counts its rows has no number left",
        code: Int(SQLITE_FULL))

    private func lastError(_ deleting: Bool) -> StoreError {
        let connection = database.sqliteConnection
        return SQLiteError.storeError(
            code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)),
            deleting: deleting)
    }

    /// Makes SQLite copy the bytes.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static func bind(_ bind: Bind, to raw: OpaquePointer, at index: Int32) -> Int32 {
        if let number = bind.number { return self.bind(number, to: raw, at: index) }
        if var text = bind.storedText {
            return text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { bytes in
                    sqlite3_bind_text64(
                        raw, index, bytes.baseAddress, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
                }
            }
        }
        return self.bind(bind.value, to: raw, at: index)
    }

    private static func bind(_ value: Value, to raw: OpaquePointer, at index: Int32) -> Int32 {
        switch value {
        case .boolean(let flag): return sqlite3_bind_int64(raw, index, flag ? 1 : 0)
        case .integer(let value): return sqlite3_bind_int64(raw, index, Int64(clamping: value))
        case .float(let value): return sqlite3_bind_double(raw, index, Double(value))
        case .double(let value): return sqlite3_bind_double(raw, index, value)
        case .bytes(let data):
            // A null pointer would bind NULL, so an empty BLOB needs another call.
            if data.isEmpty { return sqlite3_bind_zeroblob(raw, index, 0) }
            return data.withUnsafeBytes { sqlite3_bind_blob64(raw, index, $0.baseAddress, UInt64($0.count), transient) }
        default: return sqlite3_bind_null(raw, index)
        }
    }

    /// SQLite would keep both savepoints of one name, so the one before is released.
    func set(_ savepoint: Savepoint) throws(StoreError) {
        if savepoints.contains(savepoint) { try release(savepoint) }
        try command("SAVEPOINT " + savepoint.rawValue)
        savepoints.append(savepoint)
    }

    func rollBack(to savepoint: Savepoint) throws(StoreError) {
        try command("ROLLBACK TO SAVEPOINT " + savepoint.rawValue)
        while savepoints.last != savepoint { savepoints.removeLast() }
    }

    func release(_ savepoint: Savepoint) throws(StoreError) {
        try command("RELEASE SAVEPOINT " + savepoint.rawValue)
        while savepoints.removeLast() != savepoint {}
    }

    private func command(_ sql: String) throws(StoreError) {
        if let end { throw end }
        do {
            try database.execute(sql: sql)
        } catch {
            throw SQLiteError.storeError(error)
        }
    }
}
