import MergeCore
import RecordStore
import Testing
import TestSupport

@testable import MariaDBStore

/// Transactions in the log of a server, and changes that it does not contain.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BinlogTransactionTests {
    private static let sql = """
        CREATE TABLE parents (id INT PRIMARY KEY, code INT UNIQUE, n INT) ENGINE=InnoDB;
        CREATE TABLE children (id INT PRIMARY KEY, parent INT, n INT,
          FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB;
        CREATE TABLE leaves (id INT PRIMARY KEY, child INT,
          FOREIGN KEY (child) REFERENCES children (id) ON DELETE SET NULL) ENGINE=InnoDB;
        CREATE TABLE plain (id INT PRIMARY KEY, n INT, t TEXT) ENGINE=MyISAM;
        """

    private let world: BinlogWorld
    private let tables: [WatchedTable]
    private let cascades: [CascadeLink]

    private static let started = Task { try await BinlogWorld.start(sql) }

    init() async throws {
        guard MariaDBServer.isExpected else { throw StoreError(.unavailable, MariaDBServer.reason) }
        world = try await Self.started.value
        tables = [
            try await world.watch("parents"), try await world.watch("children", ["id", "parent"]),
            try await world.watch("leaves", ["id", "child"]), try await world.watch("plain"),
        ]
        cascades = [
            CascadeLink(
                child: world.name("children"), target: world.name("parents"), targetColumns: [0], actsOnDelete: true,
                actsOnUpdate: true),
            CascadeLink(
                child: world.name("leaves"), target: world.name("children"), targetColumns: [0], actsOnDelete: true,
                actsOnUpdate: false),
        ]
        try await world.run(
            """
            DELETE FROM leaves; DELETE FROM children; DELETE FROM parents; DELETE FROM plain;
            INSERT INTO parents VALUES (1, 1, 1), (2, 2, 2); INSERT INTO children VALUES (10, 1, 1), (20, 2, 2);
            INSERT INTO leaves VALUES (100, 10); INSERT INTO plain VALUES (1, 1, NULL);
            """)
    }

    private func transactions(_ sql: String) async throws -> [ForeignTransaction] {
        let start = try await world.position()
        try await world.run(sql)
        return try await world.read(tables, cascades: cascades, after: start)
    }

    /// The changes as text, such as `update parents 1 > 1`.
    private func texts(_ found: [ForeignTransaction]) -> [String] {
        func text(_ values: [WatchedValue]?) -> String {
            (values ?? []).map { value in
                switch value {
                case .absent: "?"
                case .undecoded: "!"
                case .value(.integer(let number)): "\(number)"
                case .value(let value): "\(value)"
                }
            }.joined(separator: ",")
        }
        return found.flatMap(\.changes).map {
            "\($0.kind) \($0.table.name) \(text($0.before)) > \(text($0.after))"
        }
    }

    @Test("A transaction arrives completely and once", .tags(.mariadb), .needsMariaDB)
    func transactions() async throws {
        let found = try await transactions(
            """
            BEGIN; INSERT INTO parents VALUES (3, 3, 3); UPDATE children SET parent = 3 WHERE id = 10;
            SAVEPOINT s; INSERT INTO parents VALUES (4, 4, 4); ROLLBACK TO s; DELETE FROM leaves WHERE id = 100; COMMIT;
            BEGIN; INSERT INTO parents VALUES (5, 5, 5); ROLLBACK;
            """)
        #expect(found.count == 1 && found.first?.passes.isEmpty == true)
        #expect(
            texts(found) == [
                "insert parents  > 3", "update children 10,1 > 10,3", "delete leaves 100,10 > ",
            ])
        #expect(found.first?.gtid?.domain == 3 && found.first?.gtid?.server == 7)
    }

    @Test("Partial images lack columns", .tags(.mariadb), .needsMariaDB)
    func partialImages() async throws {
        let found = try await transactions(
            """
            SET binlog_row_image = MINIMAL; UPDATE children SET n = 5 WHERE id = 10;
            UPDATE children SET parent = 2 WHERE id = 10; DELETE FROM children WHERE id = 20;
            """)
        #expect(
            texts(found) == [
                "update children 10,? > 10,?", "update children 10,? > 10,2", "delete children 20,? > ",
            ])
        // The key of an updated parent did not change, so its children did not either.
        let update = try await transactions("SET binlog_row_image = MINIMAL; UPDATE parents SET n = 9 WHERE id = 1;")
        #expect(texts(update) == ["update parents 1 > 1"] && update.first?.passes.isEmpty == true)
    }

    @Test("Cascades need a pass", .tags(.mariadb), .needsMariaDB)
    func cascades() async throws {
        let deletion = try await transactions("DELETE FROM parents WHERE id = 1")
        #expect(texts(deletion) == ["delete parents 1 > "])
        #expect(
            deletion.first?.passes.tables == [world.name("children"): .cascade, world.name("leaves"): .cascade])
        let move = try await transactions("UPDATE parents SET id = 7 WHERE id = 2")
        #expect(texts(move) == ["update parents 2 > 7"])
        #expect(move.first?.passes.tables[world.name("children")] == .cascade)
        let harmless = try await transactions("UPDATE parents SET n = 8 WHERE id = 7")
        #expect(harmless.first?.passes.isEmpty == true)
    }

    @Test("Prepared transactions are reported at their commit", .tags(.mariadb), .needsMariaDB)
    func prepared() async throws {
        let start = try await world.position()
        // A session with a prepared transaction cannot run other statements, so each step has a session.
        for step in [
            "XA START 'a', 'b'; UPDATE parents SET n = 6 WHERE id = 1; XA END 'a', 'b'; XA PREPARE 'a', 'b';",
            "UPDATE plain SET n = 3 WHERE id = 1", "XA COMMIT 'a', 'b'",
            "XA START 'c'; UPDATE parents SET n = 6 WHERE id = 2; XA END 'c'; XA PREPARE 'c';", "XA ROLLBACK 'c'",
            "XA START 'd'; INSERT INTO parents VALUES (8, 8, 8); XA END 'd'; XA COMMIT 'd' ONE PHASE;",
        ] {
            try await world.run(step)
        }
        let found = try await world.read(tables, cascades: cascades, after: start)
        #expect(texts(found) == ["update plain 1 > 1", "update parents 1 > 1", "insert parents  > 8"])
        #expect(found.allSatisfy { $0.passes.isEmpty })
    }

    @Test("The commit of an unknown prepared transaction needs a pass of all tables", .tags(.mariadb), .needsMariaDB)
    func unknownPrepared() async throws {
        try await world.run("XA START 'e'; UPDATE parents SET n = 7 WHERE id = 2; XA END 'e'; XA PREPARE 'e';")
        let found = try await transactions("XA COMMIT 'e'")
        #expect(found.map(\.passes.all) == [.incomplete])
    }

    @Test("Statements and definitions need a pass", .tags(.mariadb), .needsMariaDB)
    func statements() async throws {
        let statement = try await transactions("SET binlog_format = STATEMENT; UPDATE plain SET n = 4;")
        #expect(statement.map(\.passes.all) == [.statement])
        let truncation = try await transactions("TRUNCATE TABLE plain")
        #expect(truncation.map(\.passes.tables) == [[world.name("plain"): .definition]])
        #expect(truncation.allSatisfy { $0.changesSchema })
        let other = try await transactions("CREATE TABLE unrelated (id INT PRIMARY KEY); DROP TABLE unrelated;")
        #expect(other.isEmpty)
        // A reader with the earlier schema detects the other form.
        let altered = try await transactions(
            "ALTER TABLE plain ADD COLUMN more INT FIRST; INSERT INTO plain VALUES (1, 2, 3, NULL);")
        #expect(altered.allSatisfy { $0.changes.isEmpty } && altered.count == 2)
        #expect(altered.map(\.passes.tables) == [[world.name("plain"): .definition], [world.name("plain"): .form]])
        try await world.run("ALTER TABLE plain DROP COLUMN more")
    }

    @Test("Rows of tables without transactions arrive", .tags(.mariadb), .needsMariaDB)
    func nonTransactional() async throws {
        let found = try await transactions(
            "BEGIN; INSERT INTO plain VALUES (2, 2, 'x'); INSERT INTO parents VALUES (6, 6, 6); ROLLBACK;")
        #expect(texts(found) == ["insert plain  > 2"] || found.first?.passes.tables[world.name("plain")] != nil)
    }

    @Test("A large transaction needs a pass", .tags(.mariadb), .needsMariaDB)
    func largeTransaction() async throws {
        let found = try await transactions(
            """
            INSERT INTO parents SELECT seq, seq, 1 FROM seq_1000_to_\(OpenGroup.mostChanges + 1_001);
            """)
        #expect(found.map(\.passes.tables) == [[world.name("parents"): .size]])
        #expect(found.allSatisfy { $0.changes.isEmpty })
    }
}
