import Testing
import TestSupport

/// Rows that change along with another row, from foreign key to foreign key.
@Suite struct CascadeChainTests {
    private static let sql = """
        CREATE TABLE areas (id INTEGER PRIMARY KEY, code VARCHAR(10) NOT NULL UNIQUE, name VARCHAR(20));
        CREATE TABLE shops (id INTEGER PRIMARY KEY, area VARCHAR(10) UNIQUE, name VARCHAR(20),
          FOREIGN KEY (area) REFERENCES areas (code) ON UPDATE CASCADE ON DELETE SET NULL);
        CREATE TABLE tills (id INTEGER PRIMARY KEY, area VARCHAR(10) UNIQUE, name VARCHAR(20),
          FOREIGN KEY (area) REFERENCES shops (area) ON UPDATE CASCADE);
        CREATE TABLE drawers (id INTEGER PRIMARY KEY, area VARCHAR(10), name VARCHAR(20),
          FOREIGN KEY (area) REFERENCES tills (area) ON UPDATE CASCADE);
        CREATE TABLE signs (id INTEGER PRIMARY KEY, area VARCHAR(10), name VARCHAR(20),
          FOREIGN KEY (area) REFERENCES tills (area) ON UPDATE SET NULL);
        INSERT INTO areas VALUES (1, 'north', 'a'), (2, 'south', 'b');
        INSERT INTO shops VALUES (1, 'north', 's'), (2, 'south', 's');
        INSERT INTO tills VALUES (1, 'north', 't'), (2, 'south', 't');
        INSERT INTO drawers VALUES (1, 'north', 'd'), (2, 'south', 'd');
        INSERT INTO signs VALUES (1, 'north', 'g'), (2, 'south', 'g');
        """
    private static let tables = ["areas", "shops", "tills", "drawers", "signs"]
    private static let rules = Dictionary(
        uniqueKeysWithValues: tables.map { table in
            let groups = table == "areas" ? "{code: code, name: name}" : "{area: area, name: name}"
            return ("\(table).yaml", "resource: \(table)\nsections:\n  row: {table: \(table), groups: \(groups)}\n")
        })
    private static let others: Set = ["areas/1", "shops/1", "tills/1", "drawers/1", "signs/1"]

    private static func with(
        _ kind: TestEngine,
        _ body:
            @escaping @Sendable (HTTPClient.Session, _ rows: @Sendable () async throws -> String) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                try await body(client) {
                    var rows = ""
                    for table in tables { rows += try await database.run("SELECT * FROM \(table) ORDER BY id;") }
                    return rows
                }
            }
        }
    }

    private static let edits = [
        #"{"resource":"areas","id":1,"changeset":{"row":{"code":{"old":"north","new":"west"}}}}"#,
        #"{"resource":"areas","id":1,"changeset":{"row":{"old":{"code":"north","name":"a"},"new":null}}}"#,
        #"{"resource":"shops","id":1,"changeset":{"row":{"area":{"old":"north","new":null}}}}"#,
    ]

    @Test("The feed reports every row that changes along", arguments: TestEngine.allCases, edits)
    func feed(_ kind: TestEngine, _ edit: String) async throws {
        try await Self.with(kind) { client, _ in
            let start = try await client.position()
            _ = try await client.push(edit)
            let page = try await client.changes(after: start)
            let expected = edit.contains("shops") ? Self.others.subtracting(["areas/1"]) : Self.others
            #expect(Set(page.names) == expected, "\(page)")
            #expect(page["changes"]?.array.allSatisfy { $0["by"]?.isNull == false } == true)
        }
    }

    @Test("An undo restores every row that changed along", arguments: TestEngine.allCases, edits)
    func undo(_ kind: TestEngine, _ edit: String) async throws {
        try await Self.with(kind) { client, rows in
            let before = try await rows()
            let pushed = try await client.post("/v1/push", #"{"edits":[\#(edit)]}"#)
            #expect(pushed.status == 200, "\(pushed.text)")
            #expect(try await rows() != before)
            let entry = try await client.get("/v1/journal/1")
            for table in ["drawers", "signs"] { #expect(entry.text.contains("\"\(table)\""), "\(entry.text)") }
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await rows() == before)
        }
    }

    @Test("An undo keeps a reference that another program has set since", arguments: TestEngine.allCases)
    func laterReferences(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                _ = try await client.push(Self.edits[0])
                try await database.run("UPDATE signs SET area = 'south' WHERE id = 1;")
                let undone = try await client.post("/v1/journal/1/undo", "{}")
                #expect(undone.status == 200, "\(undone.text)")
                #expect(try await database.run("SELECT area FROM signs WHERE id = 1;") == "south\n")
                #expect(try await database.run("SELECT area FROM drawers WHERE id = 1;") == "north\n")
            }
        }
    }

    @Test("The rows that a key of another collation deletes are reported")
    func collations() async throws {
        let sql = """
            CREATE TABLE homes (code TEXT COLLATE NOCASE PRIMARY KEY, name TEXT);
            CREATE TABLE rooms (id INTEGER PRIMARY KEY, home TEXT REFERENCES homes (code) ON DELETE CASCADE, name TEXT);
            CREATE TABLE flats (code TEXT PRIMARY KEY, name TEXT);
            CREATE TABLE beds (id INTEGER PRIMARY KEY, flat TEXT COLLATE NOCASE REFERENCES flats (code) ON DELETE CASCADE,
              name TEXT);
            INSERT INTO homes VALUES ('a', 'h'); INSERT INTO rooms VALUES (1, 'A', 'r');
            INSERT INTO flats VALUES ('a', 'f'), ('A', 'g'); INSERT INTO beds VALUES (1, 'a', 'b'), (2, 'A', 'c');
            """
        let rules = Dictionary(
            uniqueKeysWithValues: ["homes", "rooms", "flats", "beds"].map {
                ("\($0).yaml", "resource: \($0)\nsections:\n  row: {table: \($0), groups: {name: name}}\n")
            })
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let start = try await client.position()
                for (resource, name) in [("homes", "h"), ("flats", "f")] {
                    _ = try await client.push(
                        #"{"resource":"\#(resource)","id":"a","changeset":{"row":{"old":{"name":"\#(name)"},"new":null}}}"#
                    )
                }
                let page = try await client.changes(after: start)
                #expect(Set(page.names) == [#"homes/"a""#, "rooms/1", #"flats/"a""#, "beds/1"], "\(page)")
                #expect(try await database.run("SELECT id FROM rooms; SELECT id FROM beds;") == "2\n")
            }
        }
    }
}
