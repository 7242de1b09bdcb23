import MergeCore
import RecordStore
import Testing
import TestSupport

/// The contract of `RecordEngine`: both engines pass the same tests.
@Suite struct EngineCompatTests {
    private static let mariadb = """
        CREATE TABLE owners (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) NOT NULL UNIQUE) ENGINE=InnoDB;
        CREATE TABLE things (
          id INT PRIMARY KEY AUTO_INCREMENT, code VARCHAR(20) NULL, amount INT NOT NULL DEFAULT 5,
          note LONGTEXT NULL, data LONGBLOB NULL, owner INT NULL,
          CONSTRAINT small_amount CHECK (amount < 100), CONSTRAINT one_code UNIQUE (code),
          CONSTRAINT its_owner FOREIGN KEY (owner) REFERENCES owners (id)) ENGINE=InnoDB;
        CREATE TABLE pairs (a INT NOT NULL, b VARCHAR(10) NOT NULL, c INT NULL, PRIMARY KEY (a, b)) ENGINE=InnoDB;
        DELIMITER //
        CREATE TRIGGER veto BEFORE UPDATE ON pairs FOR EACH ROW
          IF NEW.c = 13 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'thirteen is unlucky'; END IF//
        DELIMITER ;
        """
    private static let sqlite = """
        CREATE TABLE owners (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
        CREATE TABLE things (
          id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT NULL, amount INT NOT NULL DEFAULT 5, note TEXT NULL,
          data BLOB NULL, owner INT NULL REFERENCES owners (id),
          CONSTRAINT small_amount CHECK (amount < 100));
        CREATE UNIQUE INDEX one_code ON things (code);
        CREATE TABLE pairs (a INT NOT NULL, b TEXT NOT NULL, c INT NULL, PRIMARY KEY (a, b));
        CREATE TRIGGER veto BEFORE UPDATE ON pairs WHEN NEW.c = 13
          BEGIN SELECT RAISE(ABORT, 'thirteen is unlucky'); END;
        """
    private static let number = ColumnType.integer(Int128(Int64.min)...Int128(Int64.max))
    private static let text = ColumnType.text(TextType())

    private static func section(_ table: String, _ columns: [(String, ColumnType)], keyCount: Int = 1) -> Section {
        Section(
            name: table, kind: .root,
            table: SectionTable(
                TableName(name: table), columns: columns.map { Column(name: $0.0, type: $0.1, isNullable: true) },
                keyCount: keyCount, generatedKeyColumn: keyCount == 1 ? 0 : nil))
    }

    private static let things = section(
        "things",
        [
            ("id", number), ("code", text), ("amount", number), ("note", text), ("data", .bytes(maximum: nil)),
            ("owner", number),
        ])
    private static let pairs = section("pairs", [("a", number), ("b", text), ("c", number)], keyCount: 2)

    private static func open(_ kind: TestEngine) async throws -> (database: TestDatabase, engine: any RecordEngine) {
        let database = try await TestDatabase(kind, mariadb: mariadb, sqlite: sqlite)
        return (database, try database.engine())
    }

    private static func assign(_ column: Int, _ value: Value) -> Assignment { Assignment(column: column, value: value) }
    private static func text(_ text: String) -> Value { .text(ExactText(text)) }

    @Test("Writes can be read", arguments: TestEngine.allCases)
    func writing(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        let sql = SectionSQL.of(Self.things, engine.dialect)
        let note = "NUL \u{0}, quote ', 😀, é and e\u{301}"
        let key = try await engine.write(deadline: .distant) { session throws(StoreError) in
            let made = try session.execute(
                sql.insert([
                    Self.assign(1, Self.text("x")), Self.assign(3, Self.text(note)),
                    Self.assign(4, .bytes([0, 255, 39])),
                ]))
            return .commit(made.generatedKey)
        }
        let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
            try session.query(sql.select(where: [0], in: [[.integer(key)]], locking: false))
        }
        #expect(rows == [[.integer(key), Self.text("x"), .integer(5), Self.text(note), .bytes([0, 255, 39]), .null]])
        await engine.close()
    }

    @Test("Long values are read completely", arguments: TestEngine.allCases)
    func longValues(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        let sql = SectionSQL.of(Self.things, engine.dialect)
        let long = String(repeating: "añ😀", count: 100_000)
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            _ = try session.execute(sql.insert([Self.assign(3, Self.text(long)), Self.assign(4, .bytes(bytes))]))
            _ = try session.execute(sql.insert([Self.assign(3, Self.text("")), Self.assign(4, .bytes([]))]))
            return .commit(())
        }
        let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
            try session.query(sql.page(after: nil, limit: 10))
        }
        #expect(rows.map { $0[3] } == [Self.text(long), Self.text("")])
        #expect(rows.map { $0[4] } == [.bytes(bytes), .bytes([])])
        await engine.close()
    }

    @Test("A rollback is complete or to a savepoint", arguments: TestEngine.allCases)
    func rollback(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        let sql = SectionSQL.of(Self.pairs, engine.dialect)
        func row(_ number: Int) -> RecordStore.Statement {
            sql.insert([Self.assign(0, .integer(Int128(number))), Self.assign(1, Self.text("k"))])
        }
        let first = row(1)
        let second = row(2)
        let third = row(3)
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            _ = try session.execute(first)
            try session.set(.edit)
            _ = try session.execute(second)
            try session.set(.statement)
            _ = try session.execute(third)
            try session.rollBack(to: .statement)
            try session.release(.statement)
            try session.rollBack(to: .edit)
            try session.release(.edit)
            return .commit(())
        }
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            _ = try session.execute(third)
            return .rollback(())
        }
        #expect(try await database.run("SELECT a FROM pairs ORDER BY a;") == "1\n")
        await engine.close()
    }

    @Test(arguments: TestEngine.allCases) func violationsAreNamed(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        let things = SectionSQL.of(Self.things, engine.dialect)
        let pairs = SectionSQL.of(Self.pairs, engine.dialect)
        let key = [Self.assign(0, .integer(1)), Self.assign(1, Self.text("k"))]
        let cases: [(RecordStore.Statement, ConstraintViolation.Kind)] = [
            (things.insert([Self.assign(1, Self.text("x"))]), .unique),
            (things.insert([Self.assign(2, .integer(100))]), .check),
            (things.insert([Self.assign(2, .null)]), .notNull),
            (things.insert([Self.assign(5, .integer(77))]), .foreignKey),
            (pairs.update([Self.assign(2, .integer(13))], key: key), .trigger),
        ]
        try await engine.write(deadline: .distant) { session throws(StoreError) in
            _ = try session.execute(things.insert([Self.assign(1, Self.text("x"))]))
            _ = try session.execute(pairs.insert(key))
            return .commit(())
        }
        for (statement, kind) in cases {
            let found = try await engine.write(deadline: .distant) { session throws(StoreError) in
                do throws(StoreError) {
                    _ = try session.execute(statement)
                    return Ending<ConstraintViolation?>.rollback(nil)
                } catch {
                    // The transaction continues after the violation.
                    _ = try session.query(things.page(after: nil, limit: 1))
                    guard case .constraint(let violation) = error.kind else { throw error }
                    return .rollback(violation)
                }
            }
            #expect(found?.kind == kind)
            if kind == .trigger { #expect(found?.sentence == "thirteen is unlucky") }
            if kind == .check { #expect(found?.name == "small_amount") }
        }
        await engine.close()
    }

    @Test("Pages of composite keys are ordered", arguments: TestEngine.allCases)
    func compositeKeys(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        try await database.run("INSERT INTO pairs VALUES (2,'b',1),(1,'z',2),(2,'a',3),(1,'y',4),(3,'x',5);")
        let sql = SectionSQL.of(Self.pairs, engine.dialect)
        var seen: [Value] = []
        var after: RecordKey?
        repeat {
            let start = after
            let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
                try session.query(sql.page(after: start, limit: 2))
            }
            seen += rows.map { $0[2] }
            after = rows.last.map { Self.pairs.key(of: $0) }
        } while after != nil
        #expect(seen == [4, 2, 3, 1, 5].map { .integer($0) })
        let chosen = try await engine.write(deadline: .distant) { session throws(StoreError) in
            let tuples: [[Value]] = [
                [.integer(2), Self.text("a")], [.integer(1), Self.text("z")], [.integer(9), Self.text("q")],
            ]
            return .commit(try session.query(sql.select(where: [0, 1], in: tuples, locking: true)))
        }
        #expect(Set(chosen.map { $0[2] }) == [.integer(3), .integer(2)])
        await engine.close()
    }

    @Test("The schema is read", arguments: TestEngine.allCases)
    func schema(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        let names = ["things", "pairs", "nothing"].map { TableName(name: $0) }
        let schema = try await engine.schema(of: names, deadline: .distant)
        #expect(schema.allNames == ["owners", "pairs", "things"])
        #expect(schema.tables[names[2]] == nil)
        let things = try #require(schema.tables[names[0]])
        #expect(things.primaryKey == ["id"])
        #expect(things.column("id")?.isAutoIncrement == true)
        #expect(things.column("amount")?.hasDefault == true)
        #expect(things.column("amount")?.isNullable == false)
        #expect(things.uniqueIndexes.contains { $0.name == "one_code" && $0.columns == ["code"] })
        #expect(things.foreignKeys.first?.target == TableName(name: "owners"))
        #expect(things.foreignKeys.first?.targetColumns == ["id"])
        #expect(things.checks["small_amount"] != nil)
        #expect(schema.tables[names[1]]?.primaryKey == ["a", "b"])
        await engine.close()
    }

    @Test("A read has one snapshot", arguments: TestEngine.allCases)
    func snapshot(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        if kind == .sqlite { try await database.run("PRAGMA journal_mode = WAL;") }
        try await database.run("INSERT INTO pairs VALUES (1,'k',1);")
        let sql = SectionSQL.of(Self.pairs, engine.dialect)
        let (asked, changed) = (Flag(), Flag())
        let change = Task {
            while !asked.isRaised { await Task.yield() }
            try await database.run("UPDATE pairs SET c = 2;")
            changed.raise()
        }
        let seen = try await engine.read(deadline: .distant) { session throws(StoreError) in
            let first = try session.query(sql.page(after: nil, limit: 9))
            asked.raise()
            while !changed.isRaised { continue }
            return [first, try session.query(sql.page(after: nil, limit: 9))]
        }
        try await change.value
        #expect(seen[0] == seen[1])
        #expect(try await database.run("SELECT c FROM pairs;") == "2\n")
        await engine.close()
    }

    @Test("A closed engine refuses work", arguments: TestEngine.allCases)
    func closed(_ kind: TestEngine) async throws {
        let (database, engine) = try await Self.open(kind)
        defer { withExtendedLifetime(database) {} }
        try await engine.ping(deadline: .distant)
        await engine.close()
        await #expect(throws: StoreError.self) { try await engine.ping(deadline: .distant) }
    }
}
