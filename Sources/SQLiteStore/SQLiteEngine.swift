internal import GRDB
package import MergeCore
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

    package var dialect: Dialect { .sqlite }

    /// Runs a transaction that may write on the connection that writes, again while another program holds the file.
    package func write<Answer: Sendable>(
        deadline: ContinuousClock.Instant, locking tables: [TableName],
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) -> Answer {
        try await repeating(deadline) { () async throws -> Answer in
            try await writer.writeWithoutTransaction { database in
                var answer: Answer?
                try database.inTransaction(.immediate) {
                    let session = SQLiteSession(database)
                    switch try body(session) {
                    case .commit(let made):
                        try session.checkAnswered()
                        answer = made
                        return .commit
                    case .rollback(let made):
                        answer = made
                        return .rollback
                    }
                }
                guard let answer else { throw StoreError(.other, "a transaction ended without an answer") }
                return answer
            }
        }
    }

    /// Runs a transaction on the caller's thread, which may block.
    package func writeNow<Answer>(
        _ body: (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        do {
            return try writer.writeWithoutTransaction { database in
                var answer: Answer?
                try database.inTransaction(.immediate) {
                    let session = SQLiteSession(database)
                    answer = try body(session)
                    try session.checkAnswered()
                    return .commit
                }
                guard let answer else { throw StoreError(.other, "a transaction ended without an answer") }
                return answer
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

    /// Runs a transaction that reads from one snapshot, on a connection that reads.
    package func read<Answer: Sendable>(
        deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try await repeating(deadline) { () async throws -> Answer in
            try await reader.unsafeRead { database in
                var answer: Answer?
                // A deferred transaction sees one snapshot from its first SELECT on.
                try database.inTransaction(.deferred) {
                    answer = try body(SQLiteSession(database))
                    return .commit
                }
                guard let answer else { throw StoreError(.other, "a transaction ended without an answer") }
                return answer
            }
        }
    }

    private var reader: DatabaseQueue { readers.randomElement() ?? writer }

    /// Reads the schema of the tables from the file.
    package func schema(of tables: [TableName], deadline: ContinuousClock.Instant) async throws(StoreError)
        -> DatabaseSchema
    {
        try await repeating(deadline) { () async throws -> DatabaseSchema in
            try await reader.read { try SQLiteSchemaReader($0).read(tables) }
        }
    }

    /// Reads from the file; throws `StoreError` where it cannot be read.
    package func ping(deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await repeating(deadline) { () async throws in
            _ = try await reader.read { try Int.fetchOne($0, sql: "SELECT 1 FROM sqlite_master LIMIT 1") }
        }
    }

    /// Work that has begun ends; the connections close with the last reference to the engine, since GRDB does not allow
    /// one to be used after it was closed.
    package func close() async {
        isClosed.store(true, ordering: .releasing)
    }

    /// Runs again what found the file locked, until the deadline.
    private func repeating<Answer: Sendable>(
        _ deadline: ContinuousClock.Instant, _ body: () async throws -> Answer
    ) async throws(StoreError) -> Answer {
        while true {
            if isClosed.load(ordering: .acquiring) { throw StoreError(.unavailable, "the gateway is shutting down") }
            let error: StoreError
            do {
                return try await body()
            } catch let caught {
                error = SQLiteError.storeError(caught)
            }
            if error.code == Int(ResultCode.SQLITE_READONLY_ROLLBACK.rawValue) {
                do {
                    try await playBack()
                } catch {
                    throw SQLiteError.storeError(error)
                }
            } else if error.kind != .serialization {
                throw error
            }
            guard ContinuousClock.now < deadline, !Task.isCancelled else {
                throw StoreError(.busy, "the SQLite file stayed locked by another", code: error.code)
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 1...20)))
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
