import Gateway
import MergeService
import Testing
import TestSupport

/// A row belongs to a record only if both values have the same characters, whatever the collations of the columns.
@Suite struct ExactLinkTests {
    private static func tables(_ kind: TestEngine) -> String {
        let (exact, loose, padded) =
            kind == .mariadb
            ? ("COLLATE utf8mb4_bin", "COLLATE utf8mb4_general_ci", "COLLATE utf8mb4_general_ci")
            : ("", "COLLATE NOCASE", "COLLATE RTRIM")
        return """
            CREATE TABLE goods (code VARCHAR(10) \(exact) NOT NULL PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE parts (id INTEGER NOT NULL PRIMARY KEY, good VARCHAR(10) \(loose), name VARCHAR(20));
            CREATE INDEX parts_good ON parts (good);
            CREATE TABLE labels (good VARCHAR(10) \(padded) NOT NULL, id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE visits (good VARCHAR(10) \(loose) NOT NULL, name VARCHAR(20));
            INSERT INTO goods VALUES ('aB3', 'first'), ('Ab3', 'second'), ('c', 'third');
            INSERT INTO parts VALUES (1, 'aB3', 'p1'), (2, 'Ab3', 'p2');
            INSERT INTO labels VALUES ('c', 1, 'l1'), ('c ', 2, 'l2');
            """
    }
    private static let rules = [
        "goods.yaml": """
        resource: goods
        sections:
          good: {table: goods, groups: {name: name}}
          parts: {table: parts, list: true, parent: {good: code}, groups: {name: name}}
          labels: {table: labels, list: true, parent: {good: code}, groups: {name: name}}
          visits: {table: visits, list: true, parent: {good: code}, read-only: {name: name}}
        """,
        "parts.yaml": "resource: parts\nsections:\n  part: {table: parts, groups: {name: name}}\n",
    ]

    private static func with(
        _ kind: TestEngine, rowsPerRecord: Int = MergeLimits().rowsPerRecord,
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: tables(kind), sqlite: tables(kind))
        try await RunningGateway.with(
            database, rules: rules, journal: .together, configure: { $0.merge.rowsPerRecord = rowsPerRecord }
        ) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func deletion(_ code: String, _ name: String) -> String {
        #"{"id":"\#(code)","changeset":{"good":{"old":{"name":"\#(name)"},"new":null}}}"#
    }

    @Test("A deletion leaves the rows of a record whose key only the collation equates", arguments: TestEngine.allCases)
    func deletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let gone = try await client.post("/v1/merge/goods", Self.deletion("aB3", "first"))
            #expect(gone.status == 200, "\(gone.text)")
            #expect(gone.text.contains("p1") && !gone.text.contains("p2"), "\(gone.text)")
            #expect(try await database.run("SELECT id FROM parts;") == "2\n")
            let padded = try await client.post("/v1/merge/goods", Self.deletion("c", "third"))
            #expect(padded.status == 200, "\(padded.text)")
            #expect(try await database.run("SELECT id FROM labels;") == "2\n", "a trailing blank is a character")
        }
    }

    @Test("A record contains only rows with its own key, in a page and a snapshot too", arguments: TestEngine.allCases)
    func reading(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            func names(_ record: JSON?) -> [String] {
                (record?["parts"]?.array ?? []).compactMap { $0["name"]?.text }
            }
            for (code, part) in [("aB3", "p1"), ("Ab3", "p2")] {
                let record = try await client.get("/v1/records/goods/\(code)").json()
                #expect(names(record) == [part], "\(record)")
            }
            let page = try await client.get("/v1/records/goods").json()["records"]?.array ?? []
            #expect(Set(page.map { names($0) }) == [["p1"], ["p2"], []], "\(page)")
            let lines = try await client.get("/v1/snapshot?resources=goods").text.split(separator: "\n")
            let records = try lines.map { try JSON(Array($0.utf8)) }.compactMap { $0["record"] }
            #expect(Set(records.map { names($0) }) == [["p1"], ["p2"], []])
            #expect(records.first { $0["id"]?.text == "c" }?["labels"]?.array.count == 1)
        }
    }

    @Test(
        "Records whose keys only the collation equates do not share the limit of rows", arguments: TestEngine.allCases)
    func limits(_ kind: TestEngine) async throws {
        try await Self.with(kind, rowsPerRecord: 5) { client, database in
            func add(_ ids: ClosedRange<Int>, to code: String) async throws {
                let rows = ids.map { "(\($0), '\(code)', 'p')" }.joined(separator: ",")
                try await database.run("INSERT INTO parts VALUES \(rows);")
            }
            func parts(_ code: String) async throws -> Int? {
                try await client.get("/v1/records/goods/\(code)").json()["parts"]?.array.count
            }
            try await add(11...13, to: "aB3")
            // More than twice the limit has to be preselected.
            try await add(21...24, to: "Ab3")
            try await add(31...35, to: "AB3")
            #expect(try await [parts("aB3"), parts("Ab3")] == [4, 5])
            let edit = #"{"id":"aB3","changeset":{"parts":[{"id":11,"name":{"old":"p","new":"x"}}]}}"#
            let merged = try await client.post("/v1/merge/goods", edit)
            #expect(merged.status == 200, "\(merged.text)")
            try await add(25...25, to: "Ab3")
            #expect(try await [parts("aB3"), parts("Ab3")] == [4, nil], "a record has its own limit")
            let page = try await client.get("/v1/records/goods").json()["records"]?.array ?? []
            #expect(page.count { $0["problem"] != nil } == 1, "\(page)")
            let gone = try await client.post("/v1/merge/goods", Self.deletion("aB3", "first"))
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await database.run("SELECT COUNT(*) FROM parts;") == "11\n")
        }
    }

    @Test("An item of a record whose key only the collation equates is missing", arguments: TestEngine.allCases)
    func items(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let edit = #"{"id":"aB3","changeset":{"parts":[{"id":2,"name":{"old":"p2","new":"x"}}]}}"#
            let missing = try await client.post("/v1/merge/goods", edit)
            #expect(try missing.json()["outcomes"]?[0]?["outcome"]?.text == "missing", "\(missing.text)")
            #expect(try await database.run("SELECT name FROM parts WHERE id = 2;") == "p2\n")
        }
    }

    @Test("A change of a row is reported for its record only", arguments: TestEngine.allCases)
    func feed(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.tables(kind), sqlite: Self.tables(kind))
        try await ScanFixture.run(on: database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let start = try await client.position()
                _ = try await client.push(
                    #"{"resource":"parts","id":2,"changeset":{"part":{"name":{"old":"p2","new":"q2"}}}}"#)
                let pushed = try await client.changes(after: start).names
                #expect(Set(pushed) == ["parts/2", #"goods/"Ab3""#], "\(pushed)")
                let next = try await client.position()
                try await database.run("UPDATE parts SET name = 'r2' WHERE id = 2;")
                let found = try await client.changes(after: next, until: ["parts/2", #"goods/"Ab3""#]).changes
                #expect(Set(found.map(\.name)) == ["parts/2", #"goods/"Ab3""#])
                _ = try await client.get("/v1/records/goods/aB3")
                let last = try await client.position()
                try await database.run("UPDATE parts SET name = 's1' WHERE id = 1;")
                let own = try await client.changes(after: last, until: ["parts/1", #"goods/"aB3""#]).changes
                #expect(Set(own.map(\.name)) == ["parts/1", #"goods/"aB3""#])
            }
        }
    }

    @Test("A deletion waits for no row of another record", .tags(.mariadb), .needsMariaDB)
    func locks() async throws {
        try await Self.with(.mariadb) { client, database in
            let other = try database.session()
            try await other.run("BEGIN; SELECT name FROM parts WHERE id = 2 FOR UPDATE;")
            let gone = try await client.post("/v1/merge/goods", Self.deletion("aB3", "first"))
            #expect(gone.status == 200, "\(gone.text)")
            try await other.run("ROLLBACK;")
            #expect(try await database.run("SELECT id FROM parts;") == "2\n")
        }
    }

    @Test(
        "A deletion waits for an item that another program is about to commit", .tags(.mariadb), .needsMariaDB,
        arguments: ["INSERT INTO parts VALUES (3, 'c', 'p3');", "UPDATE parts SET good = 'c' WHERE id = 2;"])
    func uncommittedItems(_ write: String) async throws {
        try await Self.with(.mariadb) { client, database in
            let other = try database.session()
            try await other.run("BEGIN; " + write)
            let busy = try await client.post("/v1/merge/goods", Self.deletion("c", "third"))
            #expect(busy.status == 503, "\(busy.text)")
            try await other.run("COMMIT;")
            let gone = try await client.post("/v1/merge/goods", Self.deletion("c", "third"))
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await database.run("SELECT COUNT(*) FROM parts WHERE good = 'c';") == "0\n")
        }
    }

    @Test(
        "A deletion of rows without a key is refused if it would delete rows of another record",
        arguments: TestEngine.allCases)
    func rowsWithoutKey(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("INSERT INTO visits VALUES ('aB3', 'v1'), ('Ab3', 'v2'), ('c', 'v3'), ('c', 'v4');")
            let refused = try await client.post("/v1/merge/goods", Self.deletion("aB3", "first"))
            #expect(refused.status == 422, "\(refused.text)")
            #expect(try await database.run("SELECT name FROM visits ORDER BY name;") == "v1\nv2\nv3\nv4\n")
            let gone = try await client.post("/v1/merge/goods", Self.deletion("c", "third"))
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await database.run("SELECT name FROM visits ORDER BY name;") == "v1\nv2\n")
        }
    }

    @Test("An identity that only the collation equates is no match", arguments: TestEngine.allCases)
    func identity(_ kind: TestEngine) async throws {
        let collation = kind == .mariadb ? "utf8mb4_general_ci" : "NOCASE"
        let number = kind == .mariadb ? "AUTO_INCREMENT" : ""
        let sql = """
            CREATE TABLE people (id INTEGER PRIMARY KEY \(number), email VARCHAR(20) COLLATE \(collation), name VARCHAR(20));
            INSERT INTO people VALUES (1, 'Joe@x', 'Joe');
            """
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let rules = [
            "people.yaml": """
            resource: people
            sections:
              person: {table: people, groups: {email: email, name: name}, identity: [email]}
            """
        ]
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                func create(_ email: String) async throws -> String? {
                    let body =
                        #"{"id":-1,"changeset":{"person":{"old":null,"new":{"email":"\#(email)","name":"Joe"}}}}"#
                    let answer = try await client.post("/v1/merge/people", body)
                    return try answer.json()["id"].map(\.description)
                }
                #expect(try await create("Joe@x") == "1")
                #expect(try await create("joe@x") == "2")
            }
        }
    }

    @Test("A row belongs to the rows of a client only if its record does", arguments: TestEngine.allCases)
    func access(_ kind: TestEngine) async throws {
        let sql =
            Self.tables(kind) + """

                ALTER TABLE goods ADD COLUMN area INTEGER NOT NULL DEFAULT 1;
                CREATE TABLE tags (id INTEGER NOT NULL PRIMARY KEY, label INTEGER,
                  FOREIGN KEY (label) REFERENCES labels (id));
                INSERT INTO tags VALUES (1, NULL);
                """
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let rules = [
            "goods.yaml": """
            resource: goods
            sections:
              good: {table: goods, groups: {name: name}}
              labels: {table: labels, list: true, parent: {good: code}, groups: {name: name}}
            access:
              clerk: {read: all, write: all, rows: {area: {claim: area}}}
            """,
            "tags.yaml": "resource: tags\nsections:\n  tag: {table: tags, groups: {label: label}}\n",
        ]
        let clerk = Rounds.Client("clerk", ["clerk"], claims: #"{"area": 1}"#)
        try await RunningGateway.with(database, rules: rules, tokens: clerk.line) { gateway async throws in
            func refer(_ old: String, _ label: String) async throws -> HTTPClient.Answer {
                let body = #"{"id":1,"changeset":{"tag":{"label":{"old":\#(old),"new":\#(label)}}}}"#
                return try await gateway.post("/v1/merge/tags", body, as: clerk)
            }
            let own = try await refer("null", "1")
            #expect(own.status == 200, "\(own.text)")
            // The label of “c ” belongs to no record, so this client cannot read it.
            let other = try await refer("1", "2")
            #expect(other.status == 422 && other.text.contains("foreign-key"), "\(other.text)")
        }
    }

    // MARK: Findings of `check`

    private static func findings(_ kind: TestEngine, _ sql: String, _ rules: [String: String]) async throws -> String {
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let folder = try TemporaryFolder(files: rules)
        let said = try await Shell.capture([
            CommandLineTests.program, "check", "--rules", folder.path, "--database", database.url, "--journal",
            "off",
        ])
        return said.output + said.errors
    }

    private static let unlike: [(TestEngine, String, String)] =
        [
            (.sqlite, "INTEGER", "VARCHAR(20)"), (.sqlite, "INTEGER", "DECIMAL(10,0)"), (.sqlite, "INTEGER", "DOUBLE"),
            (.sqlite, "VARCHAR(20)", "BLOB"),
        ]
        + (MariaDBServer.isExpected
            ? [
                (.mariadb, "INT", "VARCHAR(20)"), (.mariadb, "INT", "DECIMAL(10,0)"), (.mariadb, "INT", "DOUBLE"),
                (.mariadb, "CHAR(9)", "VARBINARY(9)"), (.mariadb, "DATE", "DATETIME"),
                (.mariadb, "TIMESTAMP", "DATETIME"), (.mariadb, "FLOAT", "FLOAT"),
            ] : [])

    @Test("A parent column of another kind of values is refused", arguments: unlike)
    func unlikeParents(_ kind: TestEngine, _ key: String, _ own: String) async throws {
        let said = try await Self.findings(
            kind,
            """
            CREATE TABLE customers (no \(key) NOT NULL PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY, customer_no \(own), note VARCHAR(20));
            """,
            [
                "customers.yaml": """
                resource: customers
                sections:
                  customer: {table: customers, groups: {name: name}}
                  notes: {table: notes, list: true, parent: {customer_no: no}, groups: {note: note}}
                """
            ])
        for part in ["customers.yaml:4", " error: ", "“no”", "“customer_no”"] {
            #expect(said.contains(part), "\(said)")
        }
        let types = [key, own].map { $0.lowercased().prefix { $0 != "(" } }
        #expect(types.allSatisfy { said.lowercased().contains($0) }, "\(said)")
    }

    @Test("Columns of the same kind link rows, whatever their width", arguments: TestEngine.allCases)
    func likeParents(_ kind: TestEngine) async throws {
        let pairs = [
            ("INT", "BIGINT"), ("DECIMAL(10,2)", "DECIMAL(12,3)"), ("DATE", "DATE"), ("TIME", "TIME"),
            ("DATETIME", "DATETIME"), ("VARCHAR(9)", "TEXT"), ("DOUBLE", "DOUBLE"),
        ]
        var sql = ""
        var sections = ""
        for (number, (key, own)) in pairs.enumerated() {
            sql += """
                ALTER TABLE customers ADD COLUMN k\(number) \(key);
                CREATE TABLE notes\(number) (id INTEGER NOT NULL PRIMARY KEY, own \(own), note VARCHAR(20));

                """
            sections +=
                "  s\(number): {table: notes\(number), list: true, parent: {own: k\(number)}, groups: {note: note}}\n"
        }
        let values = "(1, 'n', 7, 1.50, '2026-11-20', '10:00:00', '2026-11-20 10:00:00', 'aB', 0.1)"
        sql =
            "CREATE TABLE customers (no INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20));\n" + sql
            + "INSERT INTO customers VALUES \(values);\n"
        for (number, value) in [
            "7", "1.5", "'2026-11-20'", "'10:00:00'", "'2026-11-20 10:00:00'", "'aB'", "0.1",
        ].enumerated() {
            sql += "INSERT INTO notes\(number) VALUES (1, \(value), 'n');\n"
        }
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let rules = [
            "customers.yaml":
                "resource: customers\nsections:\n  customer: {table: customers, groups: {name: name}}\n" + sections
        ]
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                let record = try await client.get("/v1/records/customers/1").json()
                for number in pairs.indices {
                    #expect(record["s\(number)"]?.array.count == 1, "\(pairs[number]): \(record)")
                }
            }
        }
    }

    @Test("A reference to a key of another kind of values is refused", arguments: TestEngine.allCases)
    func unlikeReferences(_ kind: TestEngine) async throws {
        let said = try await Self.findings(
            kind,
            """
            CREATE TABLE customers (no INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, customer VARCHAR(20));
            """,
            [
                "customers.yaml": "resource: customers\nsections:\n  c: {table: customers, groups: {name: name}}\n",
                "orders.yaml":
                    "resource: orders\nsections:\n  o: {table: orders, groups: {to: {column: customer, references: customers}}}\n",
            ])
        for part in ["orders.yaml:3", " error: ", "“no”", "“customer”"] { #expect(said.contains(part), "\(said)") }
    }

    @Test("An identity of values that SQL cannot find exactly is refused", .tags(.mariadb), .needsMariaDB)
    func inexactIdentity() async throws {
        let said = try await Self.findings(
            .mariadb, "CREATE TABLE people (id INT AUTO_INCREMENT PRIMARY KEY, height FLOAT, name VARCHAR(20));",
            [
                "people.yaml":
                    "resource: people\nsections:\n  p: {table: people, groups: {height: height}, identity: [height]}\n"
            ])
        #expect(said.contains("error: values of column “height”"), "\(said)")
    }

    @Test("Collations that equate texts cause one warning", arguments: TestEngine.allCases)
    func collations(_ kind: TestEngine) async throws {
        let said = try await Self.findings(kind, Self.tables(kind), Self.rules)
        #expect(said.ranges(of: "collation").count == 1, "\(said)")
        #expect(said.contains("“parts”") && said.contains("“good”") && said.contains("0 errors"), "\(said)")
    }
}
