import MergeCore
import RecordStore
import Testing
import TestSupport

/// A program that is killed during a transaction leaves a rollback journal.
///
/// It has to be rolled back before a read, which a read-only connection cannot do.
@Suite struct HotJournalTests {
    private static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
          INSERT INTO t SELECT i, 'before' FROM n;
        """

    /// Changes a file until it contains pages of the transaction, and then kills the program.
    private static func breakOff(_ path: String, _ table: String) async throws {
        let (status, _, _) = try await Shell.capture(
            ["sqlite3", path],
            input: """
                PRAGMA cache_size = 1;
                BEGIN;
                UPDATE \(table) SET a = 'a text that is longer than the one before';
                .shell kill -9 $PPID

                """)
        #expect(status != 0)
        #expect(try await Shell.run(["ls", path + "-journal"]) != "")
    }

    private static let count = Statement(
        sql: "SELECT COUNT(*) FROM t WHERE a = 'before'", binds: [], columns: [JournalColumn.number])

    private static func prove(_ engine: any RecordEngine) async throws {
        let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
            try session.query(count)
        }
        #expect(rows == [[.integer(2_000)]])
        try await engine.ping(deadline: .distant)
        #expect(try await engine.schema(of: [TableName(name: "t")], deadline: .distant).tables.count == 1)
    }

    @Test("It is rolled back at the start")
    func start() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.schema)
        try await Self.breakOff(database.name, "t")
        try await Self.prove(try database.engine(journal: true))
    }

    @Test("It is rolled back later")
    func later() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.schema)
        let engine = try database.engine(journal: true)
        try await Self.prove(engine)
        try await Self.breakOff(database.name, "t")
        try await Self.prove(engine)
        await engine.close()
    }

    @Test("That of the attached file is rolled back too")
    func attached() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.schema)
        try await database.runOnJournal(Self.schema)
        try await Self.breakOff(database.journalName, "t")
        let engine = try database.engine(journal: true)
        let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
            try session.query(
                Statement(
                    sql: "SELECT COUNT(*) FROM \(JournalTables.attachedName).t WHERE a = 'before'", binds: [],
                    columns: [JournalColumn.number]))
        }
        #expect(rows == [[.integer(2_000)]])
    }
}
