@testable import MariaDBStore
import MergeCore
import RecordStore
import Synchronization
import Testing
import TestSupport

/// Cases that only the real server can show: deadlocks, lock timeouts, lost connections, settings, character sets.
@Suite struct MariaDBTests {
    private static let number = ColumnType.integer(0...1_000_000)
    private static let section = Section(
        name: "t", kind: .root,
        table: SectionTable(
            TableName(name: "t"),
            columns: [
                Column(name: "id", type: number, isNullable: false), Column(name: "n", type: number, isNullable: false),
            ], keyCount: 1))
    private static let table =
        "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB; INSERT INTO t VALUES (1, 0), (2, 0);"

    private static func lock(_ id: Int) -> RecordStore.Statement {
        SectionSQL.of(section, MariaDBDialect()).select(where: [0], in: [[.integer(Int128(id))]], locking: true)
    }

    /// The first two callers wait for each other, later ones pass.
    private final class Rendezvous: Sendable {
        private let arrived = Mutex(0)

        var count: Int { arrived.withLock { $0 } }

        func meet() {
            let isEarly = arrived.withLock { count in
                count += 1
                return count <= 2
            }
            while isEarly, count < 2 { continue }
        }
    }

    private static func increase(
        _ id: Int, thenLock other: Int, _ engine: any RecordEngine, _ rendezvous: Rendezvous
    ) async throws {
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            let held = try session.query(lock(id))
            // Both transactions lock their first row before either requests the second.
            rendezvous.meet()
            _ = try session.query(lock(other))
            guard case .integer(let n)? = held.first?[1] else { throw StoreError(.other, "no row") }
            let update = SectionSQL.of(section, MariaDBDialect()).update(
                [Assignment(column: 1, value: .integer(n + 1))],
                key: [Assignment(column: 0, value: .integer(Int128(id)))])
            _ = try session.execute(update)
            return .commit(())
        }
    }

    @Test(.tags(.mariadb), .needsMariaDB) func deadlocksAreRetried() async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.table, sqlite: "")
        let engine = try database.engine()
        defer { withExtendedLifetime(database) {} }
        let rendezvous = Rendezvous()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (first, second) in [(1, 2), (2, 1)] {
                group.addTask { try await Self.increase(first, thenLock: second, engine, rendezvous) }
            }
            try await group.waitForAll()
        }
        #expect(rendezvous.count >= 3, "the server chose no victim")
        #expect(try await database.run("SELECT n FROM t ORDER BY id") == "1\n1\n")
        await engine.close()
    }

    @Test("A lock that remains is reported as busy", .tags(.mariadb), .needsMariaDB)
    func busy() async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.table, sqlite: "")
        var limits = MariaDBConfiguration.Limits()
        limits.lockWaitSeconds = 1
        let engine = try database.engine(limits)
        let holder = try database.engine()
        let release = Flag()
        let held = AsyncStream<Void>.makeStream()
        let holding = Task {
            try await holder.write(deadline: .distant) { session throws(StoreError) in
                _ = try session.query(Self.lock(1))
                held.continuation.finish()
                while !release.isRaised { continue }
                return .rollback(())
            }
        }
        for await _ in held.stream {}
        let error = await #expect(throws: StoreError.self) {
            try await engine.write(deadline: .distant) { session throws(StoreError) in
                _ = try session.query(Self.lock(1))
                return .rollback(())
            }
        }
        #expect(error?.kind == .busy)
        release.raise()
        try await holding.value
        await engine.close()
        await holder.close()
    }

    @Test("A restarted server is used again", .tags(.mariadb), .needsMariaDB)
    func restart() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(.mariadb, mariadb: Self.table, sqlite: "", server: server)
        let engine = try database.engine()
        defer { withExtendedLifetime(database) {} }
        try await engine.ping(deadline: .distant)
        server.kill()
        let error = await #expect(throws: StoreError.self) { try await engine.ping(deadline: .distant) }
        #expect(error?.kind == .unavailable)
        try await server.start()
        try await engine.ping(deadline: .distant)
        let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
            try session.query(SectionSQL.of(Self.section, MariaDBDialect()).page(after: nil, limit: 9))
        }
        #expect(rows.count == 2)
        await engine.close()
        server.kill()
    }

    @Test("The session is strict and in UTC", .tags(.mariadb), .needsMariaDB)
    func session() async throws {
        let server = try await PrivateMariaDB(options: [
            "--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "--default-time-zone=+05:30", "--log-bin",
            "--binlog-format=STATEMENT",
        ])
        let database = try await TestDatabase(.mariadb, mariadb: Self.table, sqlite: "", server: server)
        let engine = try database.engine()
        defer { withExtendedLifetime(database) {} }
        let columns = ["mode", "zone", "isolation", "set"].map { name in
            Column(name: name, type: .text(TextType()), isNullable: true)
        }
        let settings = try await engine.write(deadline: .distant) { session throws(StoreError) in
            // A server that logs by STATEMENT refuses writes under READ COMMITTED.
            _ = try session.execute(
                SectionSQL.of(Self.section, MariaDBDialect()).update(
                    [Assignment(column: 1, value: .integer(5))], key: [Assignment(column: 0, value: .integer(1))]))
            let rows = try session.query(
                Statement(
                    sql: "SELECT @@sql_mode, @@time_zone, @@tx_isolation, @@character_set_client", binds: [],
                    columns: columns))
            return .commit((rows.first ?? [], session.mustLockReads))
        }
        #expect("\(settings.0[0])".contains("STRICT_ALL_TABLES"))
        #expect(!"\(settings.0[0])".contains("ANSI_QUOTES"))
        #expect(settings.0[1] == .text(ExactText("+00:00")))
        #expect(settings.0[2] == .text(ExactText("REPEATABLE-READ")))
        #expect(settings.0[3] == .text(ExactText("utf8mb4")))
        #expect(settings.1)
        await engine.close()
        server.kill()
    }

    /// The action of a foreign key is read from the definition of its table, whatever its names and comments.
    @Test("Referential actions are read")
    func referentialActions() {
        let definition = #"""
            CREATE TABLE `x` (
              `id` int(11) NOT NULL,
              `a``b` int(11) DEFAULT NULL COMMENT 'x\n  CONSTRAINT `z` FOREIGN KEY (`c`) ON DELETE CASCADE',
              KEY `q``w` (`a``b`),
              CONSTRAINT `checked` CHECK (`a``b` <> ' FOREIGN KEY ON DELETE CASCADE'),
              CONSTRAINT `plain` FOREIGN KEY (`c`) REFERENCES `p` (`id`),
              CONSTRAINT `named` FOREIGN KEY (`c`) REFERENCES ` ON DELETE CASCADE` (`id`) ON DELETE NO ACTION,
              CONSTRAINT `update` FOREIGN KEY (`c`) REFERENCES `p` (`id`) ON UPDATE CASCADE,
              CONSTRAINT `q``w` FOREIGN KEY (`a``b`) REFERENCES `p` (`id`) ON DELETE SET NULL ON UPDATE CASCADE,
              CONSTRAINT ```` FOREIGN KEY (`c`) REFERENCES `p` (`id`) ON DELETE CASCADE,
              CONSTRAINT `\#u{301}k` FOREIGN KEY (`c`) REFERENCES `p` (`id`) ON DELETE CASCADE ON UPDATE SET NULL
            ) ENGINE=InnoDB
            """#
        let actions = ReferentialActions(definition: definition)
        for (name, onDelete, onUpdate) in [
            ("z", nil, nil), ("checked", nil, nil), ("plain", nil, nil), ("named", nil, nil), ("update", nil, .update),
            ("q`w", .setNull, .update), ("`", .delete, nil), ("\u{301}k", .delete, .setNull),
        ] as [(String, Cascade.Effect?, Cascade.Effect?)] {
            #expect(actions.onDelete(name) == onDelete, "\(name)")
            #expect(actions.onUpdate(name) == onUpdate, "\(name)")
        }
    }

    @Test("Character sets are read from the server", .tags(.mariadb), .needsMariaDB)
    func characterSets() async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: """
                CREATE TABLE texts (id INT PRIMARY KEY, west VARCHAR(9) CHARACTER SET latin1,
                  east VARCHAR(9) CHARACTER SET latin2, plane VARCHAR(9) CHARACTER SET utf8mb3, padded CHAR(3),
                  kind ENUM('it''s', 'a,b', 'back\\\\slash'));
                """, sqlite: "")
        let engine = try database.engine()
        defer { withExtendedLifetime(database) {} }
        let name = TableName(name: "texts")
        let table = try #require(try await engine.schema(of: [name], deadline: .distant).tables[name])
        func takes(_ column: String, _ text: String) -> Bool {
            guard let type = table.column(column)?.types.first else { return false }
            return (try? type.accept(.text(text))) != nil
        }
        // MariaDB's latin1 is cp1252, which has the euro sign.
        #expect(takes("west", "é€") && !takes("west", "ł"))
        #expect(takes("east", "ł") && !takes("east", "è"))
        #expect(takes("plane", "€") && !takes("plane", "😀"))
        #expect(takes("padded", "ab") && !takes("padded", "abcd"))
        #expect(takes("kind", "it's") && takes("kind", "a,b") && takes("kind", "back\\slash") && !takes("kind", "IT'S"))
        await engine.close()
    }

    @Test(arguments: [
        ("mariadb://u@h:3307/d", true), ("mysql://u@h/d?tls=required&ca=/x", true), ("mysql://u:p@h/d", false),
        ("mariadb://u@h/d?socket=/s", true),
        ("mariadb://h/d", false), ("mariadb://u@h", false), ("mariadb://u@h/d?tls=maybe", false),
        ("http://u@h/d", false),
        ("mariadb://u@h/d?x=1", false),
    ]) func urlsAreRead(_ url: String, _ isGood: Bool) {
        #expect(((try? MariaDBConfiguration(url: url)) != nil) == isGood)
    }
}
