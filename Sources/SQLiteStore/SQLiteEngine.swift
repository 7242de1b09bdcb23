internal import GRDB
import MergeCore
package import RecordStore
import Synchronization

/// The embedded engine over GRDB: one connection that writes and a few that read.
///
/// The file's own journal mode is kept, because the file is the user's and other programs open it too; GRDB's
/// `DatabasePool` would turn it to WAL.
package final class SQLiteEngine: WaitingStore {
    private let writer: SQLiteQueue
    private let readers: [SQLiteQueue]
    /// The database file, and the journal if it is attached.
    private let files: [String]
    private let locks = Mutex<[FileLock]>([])
    private let isClosed = Atomic<Bool>(false)
    private static let readerCount = 2

    /// - Parameters:
    ///   - path: the database file.
    ///   - creates: makes the file where it is missing; else it must exist.
    ///   - journal: the file of the journal, made where it is missing, and attached to every connection; nil for none.
    ///   - busySeconds: how long a transaction waits for another program's where nobody says until when.
    ///   - startSeconds: how long files that other programs hold are waited for here.
    /// - Throws: `StoreError` where a file cannot be opened.
    package init(
        path: String, creates: Bool = false, journal: String? = nil, busySeconds: Double = 5,
        startSeconds: Double = 30
    ) throws(StoreError) {
        let path = SQLiteFile.plain(path)
        let journal = journal.map { SQLiteFile.plain($0) }
        if creates { SQLiteFile.make(path) }
        if let journal { SQLiteFile.make(journal) }
        files = [path] + (journal.map { [$0] } ?? [])
        (writer, readers) = try SQLiteFile.waiting(startSeconds) {
            if creates { try SQLiteQueue(path, busySeconds: busySeconds, readonly: false, journal: nil).queue.close() }
            try Self.look(path, busySeconds)
            let writer = try SQLiteQueue(
                path, busySeconds: busySeconds, readonly: false, journal: journal, turns: FileTurns())
            let readers = try (0..<Self.readerCount).map { _ in
                try SQLiteQueue(path, busySeconds: busySeconds, readonly: true, journal: journal)
            }
            let synchronous = try writer.queue.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            guard synchronous == 2 else {
                throw StoreError(.other, "SQLite did not take the setting synchronous = FULL")
            }
            return (writer, readers)
        }
    }

    /// A connection that writes would make an empty file of one that does not exist.
    private static func look(_ path: String, _ busySeconds: Double) throws {
        do {
            try SQLiteQueue(path, busySeconds: busySeconds, readonly: true, journal: nil).queue.close()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // The file is there, and the connection that writes plays back what was broken off.
        }
    }

    /// The SQL of SQLite.
    package var dialect: any Dialect { SQLiteDialect() }

    /// Lends the connection that writes, or one of those that read, for as long as nobody else waits for it.
    package func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        try checkOpen()
        let lent = purpose == .write ? writer : readers.randomElement() ?? writer
        guard await lent.permit.acquire(until: deadline) else { throw SQLiteQueue.late }
        defer { lent.permit.release() }
        do {
            switch purpose {
            case .write:
                return try await lent.queue.writeWithoutTransaction { database in
                    try self.checkOpen()
                    return try lent.lend(database, until: deadline, body)
                }
            case .snapshot: return try await lent.queue.unsafeRead { try lent.lend($0, until: deadline, body) }
            }
        } catch {
            throw await mended(SQLiteError.storeError(error))
        }
    }

    private func checkOpen() throws(StoreError) {
        if isClosed.load(ordering: .acquiring) { throw StoreError(.unavailable, "the gateway is shutting down") }
    }

    /// Runs a transaction on the caller's thread, which may block.
    package func writeNow<Answer>(
        _ body: (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        do {
            return try writer.queue.writeWithoutTransaction { [writer] database in
                try self.checkOpen()
                return try SQLiteConnection(database, busy: writer.busy).write(locking: []) {
                    session throws(StoreError) in
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
    package static func usesWAL(path: String, startSeconds: Double = 30) throws(StoreError) -> Bool {
        let path = SQLiteFile.plain(path)
        return try SQLiteFile.waiting(startSeconds) {
            try look(path, 5)
            let queue = try SQLiteQueue(path, busySeconds: 5, readonly: false, journal: nil).queue
            let mode = try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
            try queue.close()
            return mode == "wal"
        }
    }

    /// True while this engine has the locks of its files.
    package var isClaimed: Bool { locks.withLock { !$0.isEmpty } }

    /// Locks the files for this engine, until it is closed or the process ends.
    package func claim() throws(StoreError) {
        try locks.withLock { locks throws(StoreError) in
            guard locks.isEmpty else { return }
            locks = try files.map { file throws(StoreError) in try FileLock(file) }
        }
    }

    /// Work that has begun ends, and then the locks; the connections close with the last reference to the engine, since GRDB does not allow
    /// one to be used after it was closed.
    package func close() async {
        isClosed.store(true, ordering: .releasing)
        // Behind what the connection still does; whatever comes later is refused.
        try? await writer.queue.writeWithoutTransaction { _ in }
        locks.withLock { $0 = [] }
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
        try await writer.queue.read { database in
            for schema in try String.fetchAll(database, sql: "SELECT name FROM pragma_database_list") {
                _ = try Int.fetchOne(database, sql: "SELECT 1 FROM \(schema.quotedDatabaseIdentifier).sqlite_master")
            }
        }
    }
}
