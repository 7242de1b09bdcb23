import MariaDBStore
import MergeCore
import RecordStore
import Testing
import TestSupport

/// Breaks in the middle of a transaction that a MariaDB server makes itself.
@Suite struct MariaDBTroubleTests {
    private static let table =
        "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB; INSERT INTO t VALUES (1, 0);"

    private static func read(_ session: any StoreSession, locking: Bool) throws(StoreError) -> Value? {
        let sql = "SELECT n FROM t WHERE id = 1" + (locking ? " FOR UPDATE" : "")
        return try session.query(Statement(sql: sql, binds: [], columns: [JournalColumn.number])).first?.first
    }

    /// Error 1020: a row that a transaction wants to lock is newer than its snapshot.
    @Test("A transaction that finds a newer row runs again", .tags(.mariadb), .needsMariaDB)
    func newerRow() async throws {
        let server = try await PrivateMariaDB(options: [
            "--log-bin", "--binlog-format=STATEMENT", "--innodb-snapshot-isolation=ON",
        ])
        let database = try await TestDatabase(.mariadb, mariadb: Self.table, sqlite: "", server: server)
        let engine = try database.engine()
        let attempts = Counter()
        let isChanged = Flag()
        let hasRead = AsyncStream<Void>.makeStream()
        let writing = Task {
            try await engine.write(deadline: .distant) { session throws(StoreError) in
                attempts.increase()
                _ = try Self.read(session, locking: false)
                hasRead.continuation.finish()
                while !isChanged.isRaised { continue }
                guard case .integer(let n)? = try Self.read(session, locking: true) else { return .rollback(()) }
                _ = try session.execute(Statement(sql: "UPDATE t SET n = \(n + 1) WHERE id = 1", binds: []))
                return .commit(())
            }
        }
        for await _ in hasRead.stream {}
        try await database.run("UPDATE t SET n = 10 WHERE id = 1")
        isChanged.raise()
        try await writing.value
        #expect(attempts.value == 2)
        #expect(try await database.run("SELECT n FROM t") == "11\n")
        await engine.close()
        server.kill()
    }

    /// Errors 1969 and 3024: a trigger of the operator's runs on and on.
    @Test("A statement that runs too long is reported as busy", .tags(.mariadb), .needsMariaDB)
    func longStatement() async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: Self.table + "CREATE TRIGGER slow BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = NEW.n + SLEEP(20);",
            sqlite: "")
        var limits = MariaDBConfiguration.Limits()
        limits.statementSeconds = 1
        let engine = try database.engine(limits)
        let error = await #expect(throws: StoreError.self) {
            try await engine.write(deadline: .distant) { session throws(StoreError) in
                _ = try session.execute(Statement(sql: "INSERT INTO t VALUES (2, 0)", binds: []))
                _ = try session.execute(Statement(sql: "UPDATE t SET n = 5 WHERE id = 1", binds: []))
                return .commit(())
            }
        }
        #expect(error?.kind == .busy, "\(String(describing: error))")
        #expect(error?.code == 1_969)
        #expect(try await database.run("SELECT id, n FROM t") == "1\t0\n")
        try await engine.ping(deadline: .distant)
        await engine.close()
    }
}
