internal import GRDB
import MergeCore
import RecordStore

final class SQLiteConnection: StoreConnection {
    private let database: Database
    private let busy: BusyWait
    /// nil if other programs need no pauses.
    private let turns: FileTurns?

    init(_ database: Database, busy: BusyWait, turns: FileTurns? = nil) {
        self.database = database
        self.turns = turns
        self.busy = busy
    }

    func wait(as patience: Patience) { busy.wait(until: patience.end) }

    var isUsable: Bool { true }

    /// All writers of the process share one connection, and so do many readers.
    var isExclusive: Bool { false }

    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer {
        try transaction(.immediate) { session throws(StoreError) in
            if let turns { turns.sees(version: version) }
            let ending = try body(session)
            if case .commit = ending { try session.checkAnswered() }
            return ending
        }
    }

    /// The version of the file, which only the commits of other connections change; nil if it is unknown.
    private var version: Int? {
        try? Int.fetchOne(database.cachedStatement(sql: "PRAGMA main.data_version"))
    }

    /// A deferred transaction reads one snapshot, from its first SELECT on.
    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        try transaction(.deferred) { session throws(StoreError) in .commit(try body(session)) }
    }

    private func transaction<Answer>(
        _ kind: Database.TransactionKind, _ body: (SQLiteSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer {
        var answer: Answer?
        do {
            try database.inTransaction(kind) {
                let ending = try body(SQLiteSession(database))
                answer = ending.answer
                if case .commit = ending { return .commit }
                return .rollback
            }
        } catch {
            throw SQLiteError.storeError(error)
        }
        guard let answer else { throw StoreError(.other, "a transaction ended without an answer") }
        return answer
    }

    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema {
        do {
            // One snapshot for all queries.
            var schema = DatabaseSchema(tables: [:], allNames: [])
            try database.inTransaction(.deferred) {
                schema = try SQLiteSchemaReader(database).read(tables)
                return .commit
            }
            return schema
        } catch {
            throw SQLiteError.storeError(error)
        }
    }

    func refusals(of statements: [RecordStore.Statement]) throws(StoreError) -> [StoreError?] {
        statements.map { statement in
            do {
                _ = try database.makeStatement(sql: statement.sql)
                return nil
            } catch {
                return SQLiteError.storeError(error)
            }
        }
    }

    func ping() throws(StoreError) {
        do {
            _ = try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
        } catch {
            throw SQLiteError.storeError(error)
        }
    }
}
