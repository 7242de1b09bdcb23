import Testing
import TestSupport

/// Columns that no rule names are neither read nor kept, unless `undo-columns` names them.
@Suite struct UndoColumnsTests {
    private static let sql = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20), card VARCHAR(20) DEFAULT 'none',
          pass VARCHAR(20) NOT NULL DEFAULT 'unset', gone INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER, txt VARCHAR(20),
          FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
        CREATE TABLE badges (id INTEGER PRIMARY KEY, name VARCHAR(20), code VARCHAR(20) NOT NULL);
        CREATE TABLE doors (id INTEGER PRIMARY KEY, badge INTEGER, pin VARCHAR(20) NOT NULL,
          FOREIGN KEY (badge) REFERENCES badges (id) ON DELETE CASCADE);
        CREATE TABLE locks (id INTEGER PRIMARY KEY, name VARCHAR(20), code VARCHAR(20) NOT NULL);
        INSERT INTO people VALUES (1, 'Ann', 'card-1', 'pass-1', 0), (2, 'Bob', 'card-2', 'pass-2', 0);
        INSERT INTO notes VALUES (1, 1, 'text-1'), (2, 2, 'text-2');
        INSERT INTO badges VALUES (1, 'b', 'code-1'); INSERT INTO doors VALUES (1, 1, 'pin-1');
        INSERT INTO locks VALUES (1, 'l', 'code-2');
        """

    private static func rules(_ undoColumns: String = "", people: String = "") -> [String: String] {
        func file(_ resource: String, _ section: String, _ rest: String) -> (String, String) {
            (
                "\(resource).yaml",
                "resource: \(resource)\nsections:\n  \(section):\n    table: \(resource)\n    on-missing: restore\n"
                    + "    groups: {name: name}\n" + rest
            )
        }
        return Dictionary(uniqueKeysWithValues: [
            file("people", "person", people + (undoColumns.isEmpty ? "" : "    undo-columns: \(undoColumns)\n")),
            file("badges", "badge", "    undo-columns: [code]\n"), file("locks", "lock", ""),
        ])
    }

    private static func with(
        _ kind: TestEngine, _ rules: [String: String],
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func delete(
        _ client: HTTPClient.Session, _ resource: String, _ section: String, _ id: Int, _ name: String
    ) async throws {
        let gone = try await client.post(
            "/v1/merge/\(resource)",
            #"{"id":\#(id),"changeset":{"\#(section)":{"old":{"name":"\#(name)"},"new":null}}}"#)
        #expect(gone.status == 200, "\(gone.text)")
    }

    /// Everything that the journal contains, as text.
    static func journal(_ database: TestDatabase) async throws -> String {
        let columns =
            database.kind == .mariadb
            ? "CONCAT_WS('|', HEX(answer), HEX(body), HEX(entry))"
            : "coalesce(hex(answer), '') || '|' || coalesce(hex(body), '') || '|' || coalesce(hex(entry), '')"
        return try await database.runOnJournal("SELECT \(columns) FROM entries;")
    }

    static func contains(_ text: String, _ journal: String) -> Bool {
        journal.contains(text.utf8.map { String($0, radix: 16, uppercase: true) }.joined())
    }

    @Test(
        "A deletion stores no column that the rules do not name", arguments: TestEngine.allCases,
        [
            "", "    where: gone = 0\n    delete: {set: {gone: 1}}\n",
        ])
    func nothingElseIsKept(_ kind: TestEngine, _ rest: String) async throws {
        try await Self.with(kind, Self.rules(people: rest)) { client, database in
            try await Self.delete(client, "people", "person", 1, "Ann")
            let kept = try await Self.journal(database)
            for value in ["card-1", "pass-1", "text-1"] { #expect(!Self.contains(value, kept), "\(value)") }
            #expect(Self.contains("Ann", kept))
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.status == 200, "\(undone.text)")
            let row = try await database.run("SELECT * FROM people WHERE id = 1;")
            #expect(row == (rest.isEmpty ? "1\tAnn\tnone\tunset\t0\n" : "1\tAnn\tcard-1\tpass-1\t0\n"))
            let note = try await database.run("SELECT id, person, coalesce(txt, 'empty') FROM notes WHERE id = 1;")
            #expect(note == (rest.isEmpty ? "1\t1\tempty\n" : "1\t1\ttext-1\n"))
        }
    }

    @Test("A soft deletion with private fields can be undone while the row exists", arguments: TestEngine.allCases)
    func privateFields(_ kind: TestEngine) async throws {
        let rest = """
                  secret: {column: card, private: true}
                where: gone = 0
                delete: {set: {gone: 1}}
            """
        let rules = Self.rules(people: "").mapValues { file in
            file.contains("resource: people")
                ? file.replacing(
                    "    groups: {name: name}\n",
                    with: "    groups:\n      name: name\n" + rest + "\n") : file
        }
        try await Self.with(kind, rules) { client, database in
            try await Self.delete(client, "people", "person", 1, "Ann")
            try await database.run("UPDATE people SET card = 'card-9' WHERE id = 1;")
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await database.run("SELECT * FROM people WHERE id = 1;") == "1\tAnn\tcard-9\tpass-1\t0\n")

            try await Self.delete(client, "people", "person", 2, "Bob")
            try await database.run("DELETE FROM notes WHERE person = 2; DELETE FROM people WHERE id = 2;")
            let refused = try await client.post("/v1/journal/3/undo", "{}")
            #expect(refused.status == 422 && refused.text.contains("\"private\""), "\(refused.text)")
            #expect(try await database.run("SELECT count(*) FROM people WHERE id = 2;") == "0\n")
        }
    }

    @Test("A deletion stores no other column of rows without a key", arguments: TestEngine.allCases)
    func rowsWithoutKey(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE shops (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE visits (shop INTEGER NOT NULL, name VARCHAR(20), card VARCHAR(20));
            INSERT INTO shops VALUES (1, 'north'); INSERT INTO visits VALUES (1, 'Eve', 'card-1');
            """
        // The gateway reads all columns of such tables.
        let rules = [
            "shops.yaml": """
            resource: shops
            non-transactional: allow
            sections:
              shop: {table: shops, groups: {name: name}}
              visits: {table: visits, list: true, parent: {shop: id}, read-only: {name: name}}
            """
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                try await Self.delete(client, "shops", "shop", 1, "north")
                let kept = try await Self.journal(database)
                #expect(Self.contains("Eve", kept) && !Self.contains("card-1", kept))
                #expect(try await database.run("SELECT COUNT(*) FROM visits;") == "0\n")
            }
        }
    }

    @Test("An undo restores columns of undo-columns", arguments: TestEngine.allCases, ["[pass]", "all", "pass"])
    func undo(_ kind: TestEngine, _ columns: String) async throws {
        try await Self.with(kind, Self.rules(columns)) { client, database in
            try await Self.delete(client, "people", "person", 1, "Ann")
            #expect(Self.contains("card-1", try await Self.journal(database)) == (columns == "all"))
            let shown = try await client.get("/v1/journal/1")
            #expect(!shown.text.contains("pass-1"), "\(shown.text)")
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.status == 200, "\(undone.text)")
            let card = columns == "all" ? "card-1" : "none"
            #expect(try await database.run("SELECT card, pass FROM people WHERE id = 1;") == "\(card)\tpass-1\n")
        }
    }

    @Test("on-missing: restore also restores columns of undo-columns", arguments: TestEngine.allCases, ["", "[card]"])
    func restore(_ kind: TestEngine, _ columns: String) async throws {
        try await Self.with(kind, Self.rules(columns)) { client, database in
            try await Self.delete(client, "people", "person", 2, "Bob")
            let restored = try await client.post(
                "/v1/merge/people", #"{"id":2,"changeset":{"person":{"name":{"old":"Bob","new":"Rob"}}}}"#)
            #expect(try restored.json()["outcomes"]?[0]?["outcome"]?.text == "restored", "\(restored.text)")
            let card = columns.isEmpty ? "none" : "card-2"
            #expect(try await database.run("SELECT name, card FROM people WHERE id = 2;") == "Rob\t\(card)\n")
        }
    }

    @Test("A row that lacks a column without default is refused with the column's name", arguments: TestEngine.allCases)
    func missingColumns(_ kind: TestEngine) async throws {
        try await Self.with(kind, Self.rules()) { client, database in
            try await Self.delete(client, "locks", "lock", 1, "l")
            let restored = try await client.post(
                "/v1/merge/locks", #"{"id":1,"changeset":{"lock":{"name":{"old":"l","new":"m"}}}}"#)
            #expect(restored.status == 422 && restored.text.contains("“code”"), "\(restored.text)")
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.status == 422 && undone.text.contains("“code”"), "\(undone.text)")
            // The deletion keeps the badge's columns. It does not keep the rows that a cascade deletes in a table
            // without rules.
            try await Self.delete(client, "badges", "badge", 1, "b")
            let entries = try await client.get("/v1/journal?resource=badges").json()["entries"]?.array ?? []
            let number = entries.compactMap { $0["number"]?.int }.first ?? 0
            let badge = try await client.post("/v1/journal/\(number)/undo", "{}")
            #expect(badge.status == 422, "\(badge.text)")
            #expect(badge.text.contains("“pin”") && badge.text.contains("“doors”"), "\(badge.text)")
            #expect(try await database.run("SELECT COUNT(*) FROM badges;") == "0\n")
        }
    }

    @Test("Columns that the table does not have are refused with their place", arguments: TestEngine.allCases)
    func unknownColumns(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        let folder = try TemporaryFolder(files: Self.rules("[pas]"))
        let said = try await Shell.capture([
            CommandLineTests.program, "check", "--rules", folder.path, "--database", database.url, "--journal",
            "off",
        ])
        #expect(said.status != 0 && (said.output + said.errors).contains("“pas”; did you mean “pass”?"), "\(said)")
    }

    /// The account has the rights of `check --grants --columns`, and only DELETE on whole tables.
    @Test("Rights on single columns are enough", .tags(.mariadb), .needsMariaDB)
    func columnRights() async throws {
        let whole = try await TestDatabase(.mariadb, mariadb: Self.sql, sqlite: "")
        let rules = Self.rules("[pass]", people: "    frozen-when: gone > 1\n").merging([
            "cards.yaml": "resource: cards\nsections:\n  card: {table: locks, read-only: {name: name}}\n"
        ]) { $1 }
        let folder = try TemporaryFolder(files: rules)
        let account = "columns_" + whole.name
        let printed = try await Shell.capture([
            CommandLineTests.program, "check", "--rules", folder.path, "--database", whole.asRoot.url, "--grants",
            "--columns", "--grant-to", "\(account)@localhost",
        ])
        #expect(printed.status == 0, "\(printed)")
        let lines = printed.output.split(separator: "\n")
        #expect(lines.allSatisfy { ($0.hasPrefix("GRANT ") || $0.hasPrefix("-- ")) && $0.hasSuffix(";") }, "\(lines)")
        #expect(!printed.output.contains("card`") && !printed.output.contains("`txt`"), "\(printed.output)")
        try await whole.runAsOperator("CREATE USER \(account)@localhost; " + printed.output)
        let database = whole.asUser(account)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let merged = try await client.post(
                    "/v1/merge/people", #"{"id":2,"changeset":{"person":{"name":{"old":"Bob","new":"Rob"}}}}"#)
                #expect(merged.status == 200, "\(merged.text)")
                try await Self.delete(client, "people", "person", 1, "Ann")
                let undone = try await client.post("/v1/journal/2/undo", "{}")
                #expect(undone.status == 200, "\(undone.text)")
                #expect(try await client.get("/v1/records/cards/1").status == 200)
                #expect(try await client.get("/v1/records/people?limit=5").status == 200)
            }
        }
        #expect(try await whole.run("SELECT * FROM people WHERE id = 1;") == "1\tAnn\tnone\tpass-1\t0\n")
        #expect(try await whole.run("SELECT id, person FROM notes WHERE id = 1;") == "1\t1\n")
    }
}
