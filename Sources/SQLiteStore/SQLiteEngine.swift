internal import GRDB
import MergeCore
package import RecordStore
import Synchronization

/// The embedded engine over GRDB: one connection that writes and a few that read.
///
/// It keeps the file's journal mode for other programs; GRDB's `DatabasePool` would change it to WAL.
package final class SQLiteEngine: WaitingStore {
    private let writer: SQLiteQueue
    private let readers: [SQLiteQueue]
    /// The database file, and the journal if it is attached.
    private let files: [String]
    private let locks = Mutex<[FileLock]>([])
    private let isClosed = Atomic<Bool>(false)
    private static let readerCount = 2

    /// - Parameters:
    ///   - creates: creates a missing database file; else it must exist.
    ///   - journal: the file to attach as journal, created if missing; nil for none.
    ///   - busySeconds: the default wait of a transaction for another program's lock.
    ///   - startSeconds: the wait for locked files in this initialiser.
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
            try Self.look(path, busySeconds: busySeconds)
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

    /// Checks that the file exists; a connection that writes would create it.
    private static func look(_ path: String, busySeconds: Double) throws {
        do {
            try SQLiteQueue(path, busySeconds: busySeconds, readonly: true, journal: nil).queue.close()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // The file exists, and the connection that writes rolls the interrupted transaction back.
        }
    }

    /// The SQL of SQLite.
    package var dialect: any Dialect { SQLiteDialect() }

    /// Lends the connection that writes, or one that reads, when it is free.
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

    /// Returns true if a database is in WAL mode, in which SQLite commits two files one after the other.
    ///
    /// Source: https://www.sqlite.org/lang_attach.html.
    /// - Throws: `StoreError` if the file cannot be read.
    package static func usesWAL(path: String, startSeconds: Double = 30) throws(StoreError) -> Bool {
        let path = SQLiteFile.plain(path)
        return try SQLiteFile.waiting(startSeconds) {
            try look(path, busySeconds: 5)
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

    /// Waits for running work and releases the locks.
    ///
    /// The connections close with the last reference to the engine, since GRDB does not allow their use after closing.
    package func close() async {
        isClosed.store(true, ordering: .releasing)
        // This waits for running work; later work is refused.
        try? await writer.queue.writeWithoutTransaction { _ in }
        locks.withLock { $0 = [] }
    }

    /// Rolls back another program's interrupted transaction, if it prevented a read.
    ///
    /// - Returns: the error for the caller, who may retry if its kind is `fileLocked`.
    private func mended(_ error: StoreError) async -> StoreError {
        guard error.code == Int(ResultCode.SQLITE_READONLY_ROLLBACK.rawValue) else { return error }
        do {
            try await playBack()
            return StoreError(.fileLocked, error.message, code: error.code)
        } catch {
            return SQLiteError.storeError(error)
        }
    }

    /// Reads with the connection that writes: before it reads, it rolls back the transaction of a killed program.
    private func playBack() async throws {
        try await writer.queue.read { database in
            for schema in try String.fetchAll(database, sql: "SELECT name FROM pragma_database_list") {
                _ = try Int.fetchOne(database, sql: "SELECT 1 FROM \(schema.quotedDatabaseIdentifier).sqlite_master")
            }
        }
    }
}
