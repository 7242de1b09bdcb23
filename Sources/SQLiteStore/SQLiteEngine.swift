internal import GRDB
import MergeCore
package import RecordStore
import Synchronization

/// The embedded engine over GRDB: one connection that writes and a few that read.
///
/// The file's own journal mode is kept, because the file is the user's and other programs open it too; GRDB's
/// `DatabasePool` would turn it to WAL.
package final class SQLiteEngine: WaitingStore {
    private let writer: DatabaseQueue
    private let readers: [DatabaseQueue]
    private let isClosed = Atomic<Bool>(false)
    private static let readerCount = 2

    /// - Parameters:
    ///   - path: the database file.
    ///   - creates: makes the file where it is missing; else it must exist.
    ///   - journal: the file of the journal, made where it is missing, and attached to every connection; nil for none.
    ///   - busySeconds: how long a transaction waits for another program's.
    /// - Throws: `StoreError` where a file cannot be opened.
    package init(
        path: String, creates: Bool = false, journal: String? = nil, busySeconds: Double = 5
    ) throws(StoreError) {
        let path = SQLiteFile.plain(path)
        let journal = journal.map { SQLiteFile.plain($0) }
        do {
            if creates {
                SQLiteFile.make(path)
                try DatabaseQueue(path: path).close()
            }
            if let journal { SQLiteFile.make(journal) }
            try Self.look(path, busySeconds)
            writer = try DatabaseQueue(
                path: path, configuration: Self.configuration(busySeconds, readonly: false, journal))
            readers = try (0..<Self.readerCount).map { _ in
                try DatabaseQueue(path: path, configuration: Self.configuration(busySeconds, readonly: true, journal))
            }
            let synchronous = try writer.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            guard synchronous == 2 else {
                throw StoreError(.other, "SQLite did not take the setting synchronous = FULL")
            }
        } catch {
            throw SQLiteError.storeError(error)
        }
    }

    /// A connection that writes would make an empty file of one that does not exist.
    private static func look(_ path: String, _ busySeconds: Double) throws {
        do {
            try DatabaseQueue(path: path, configuration: configuration(busySeconds, readonly: true, nil)).close()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // The file is there, and the connection that writes plays back what was broken off.
        }
    }

    private static func configuration(_ busySeconds: Double, readonly: Bool, _ journal: String?) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(busySeconds)
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            // A commit that was answered survives a loss of power.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // Programs that write into a table's triggers expect the behaviour of the sqlite3 shell.
            try database.execute(sql: "PRAGMA recursive_triggers = OFF")
            if let journal {
                try database.execute(
                    sql: "ATTACH DATABASE ? AS \(JournalTables.attachedName)", arguments: [journal])
                try database.execute(sql: "PRAGMA \(JournalTables.attachedName).synchronous = FULL")
            }
        }
        return configuration
    }

    /// The SQL of SQLite.
    package var dialect: any Dialect { SQLiteDialect() }

    /// Lends the connection that writes, or one of those that read, for as long as nobody else waits for it.
    package func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        if isClosed.load(ordering: .acquiring) { throw StoreError(.unavailable, "the gateway is shutting down") }
        do {
            switch purpose {
            case .write: return try await writer.writeWithoutTransaction { try body(SQLiteConnection($0)) }
            case .snapshot: return try await reader.unsafeRead { try body(SQLiteConnection($0)) }
            }
        } catch {
            throw await mended(SQLiteError.storeError(error))
        }
    }

    /// Runs a transaction on the caller's thread, which may block.
    package func writeNow<Answer>(
        _ body: (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        do {
            return try writer.writeWithoutTransaction { database in
                try SQLiteConnection(database).write(locking: []) { session throws(StoreError) in
                    .commit(try body(session))
                }
            }
        } catch {
            throw SQLiteError.storeError(error)
        }
    }

    /// Returns true where a database is in WAL mode, in which SQLite commits two files one after the other.
    ///
    /// Source: https://www.sqlite.org/lang_attach.html.
    /// - Throws: `StoreError` where the file cannot be read.
    package static func usesWAL(path: String) throws(StoreError) -> Bool {
        let path = SQLiteFile.plain(path)
        do {
            try look(path, 5)
            let queue = try DatabaseQueue(path: path, configuration: configuration(5, readonly: false, nil))
            let mode = try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
            try queue.close()
            return mode == "wal"
        } catch {
            throw SQLiteError.storeError(error)
        }
    }

    private var reader: DatabaseQueue { readers.randomElement() ?? writer }

    /// Work that has begun ends; the connections close with the last reference to the engine, since GRDB does not allow
    /// one to be used after it was closed.
    package func close() async {
        isClosed.store(true, ordering: .releasing)
    }

    /// Takes back what another program left half done, where that is why a connection could not read.
    ///
    /// - Returns: the error that says what to do now.
    private func mended(_ error: StoreError) async -> StoreError {
        guard error.code == Int(ResultCode.SQLITE_READONLY_ROLLBACK.rawValue) else { return error }
        do {
            try await playBack()
            return StoreError(.fileLocked, error.message, code: error.code)
        } catch {
            return SQLiteError.storeError(error)
        }
    }

    /// Another program was killed in the middle of a transaction; only a connection that may write can take it back,
    /// which it does before it reads.
    private func playBack() async throws {
        try await writer.read { database in
            for schema in try String.fetchAll(database, sql: "SELECT name FROM pragma_database_list") {
                _ = try Int.fetchOne(database, sql: "SELECT 1 FROM \(schema.quotedDatabaseIdentifier).sqlite_master")
            }
        }
    }
}
