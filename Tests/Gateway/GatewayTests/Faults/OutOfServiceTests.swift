import Testing
import TestSupport

/// A table changes so that the rules of one resource no longer fit it, while a gateway runs.
@Suite(.timeLimit(.minutes(3))) struct OutOfServiceTests {
    private static let schema = """
        CREATE TABLE orders (id INT PRIMARY KEY, title VARCHAR(40) NOT NULL);
        INSERT INTO orders VALUES (1, 'first'), (2, 'second');
        CREATE TABLE labels (code VARCHAR(40) PRIMARY KEY, text VARCHAR(40) NOT NULL, order_id INT);
        INSERT INTO labels VALUES ('a', 'red', NULL), ('b', 'blue', NULL);
        """
    private static let rules = [
        "labels.yaml":
            "resource: labels\nsections:\n  label: {table: labels, key: code, groups: {text: text, order: order_id}}\n",
        "orders.yaml": "resource: orders\nsections:\n  order: {table: orders, groups: {title: title}}\n",
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (TestDatabase, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body(database, $0) }
        }
    }

    private static func order(_ id: Int, _ old: String, _ new: String) -> String {
        #"{"resource":"orders","id":\#(id),"changeset":{"order":{"title":{"old":"\#(old)","new":"\#(new)"}}}}"#
    }

    private static func label(_ id: String, _ old: String, _ new: String) -> String {
        #"{"resource":"labels","id":"\#(id)","changeset":{"label":{"text":{"old":"\#(old)","new":"\#(new)"}}}}"#
    }

    private static func sync(_ pushes: [(key: String, edits: [String])], _ rest: String = "") -> String {
        let all = pushes.map { #"{"key":"\#($0.key)","edits":[\#($0.edits.joined(separator: ","))]}"# }
        return #"{"pushes":[\#(all.joined(separator: ","))]\#(rest)}"#
    }

    private static func codes(_ answer: HTTPClient.Answer) throws -> [String] {
        try answer.json()["results"]?.array.map { result in
            result["problem"]?["code"]?.text ?? result["status"]?.text ?? ""
        } ?? []
    }

    @Test("A renamed column takes only its resource out of service", arguments: TestEngine.allCases)
    func onlyOneResource(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            let rules = try await client.get("/v1/rules").json()
            let start = try await client.get("/v1/changes").json()
            let feed = try #require(start["feed"]?.text)
            let since = try #require(start["revision"]?.int)
            try await database.run("ALTER TABLE orders RENAME COLUMN title TO headline;")
            let refused = try await client.post("/v1/push", #"{"key":"p","edits":[\#(Self.order(1, "first", "x"))]}"#)
            #expect(refused.status == 503, "\(refused.text)")
            #expect(try refused.json()["code"]?.text == "resource-unavailable")
            #expect(refused.text.contains(#""retry":true"#))
            #expect(refused.headers["retry-after"] != nil)
            let other = try await client.post("/v1/push", #"{"key":"q","edits":[\#(Self.label("a", "red", "green"))]}"#)
            #expect(other.status == 200, "\(other.text)")
            #expect(try await client.get("/v1/records/orders/1").status == 503)
            #expect(try await client.get("/v1/records/orders").status == 503)
            #expect(try await client.get("/v1/records/labels/a").status == 200)
            let page = try await client.get("/v1/changes?since=\(since)&feed=\(feed)&wait=5")
            #expect(page.text.contains("green"), "\(page.text)")
            #expect(try await client.get("/v1/snapshot?resources=labels").status == 200)
            #expect(try await client.get("/v1/snapshot?resources=orders").status == 503)
            // A snapshot without the resource would delete its records from the client's copy.
            #expect(try await client.get("/v1/snapshot").status == 503)
            #expect(try await client.get("/v1/rules").json()["version"]?.text == rules["version"]?.text)
            let ready = try await client.get("/readyz")
            #expect(ready.status == 200 && ready.text.contains("orders.yaml"), "\(ready.text)")
            try await database.run("ALTER TABLE orders RENAME COLUMN headline TO title;")
            try await OutageTests.until { try await client.get("/v1/records/orders/1").status == 200 }
            let again = try await client.post("/v1/push", #"{"key":"p","edits":[\#(Self.order(1, "first", "x"))]}"#)
            #expect(again.status == 200, "\(again.text)")
            #expect(try await client.get("/readyz").json()["problems"]?.array.isEmpty == true)
        }
    }

    @Test(
        "A push is merged if another resource that shows its row is out of service, or sent again",
        arguments: TestEngine.allCases,
        [("extra", 200), ("area", 503)])
    func otherShows(_ kind: TestEngine, _ change: (column: String, status: Int)) async throws {
        let schema = """
            CREATE TABLE goods (id INT PRIMARY KEY, area INT, extra VARCHAR(9)); INSERT INTO goods VALUES (1, 1, '');
            CREATE TABLE parts (id INT PRIMARY KEY, good INT NOT NULL, n INT NOT NULL,
              FOREIGN KEY (good) REFERENCES goods (id));
            INSERT INTO parts VALUES (1, 1, 0);
            """
        let rules = [
            "goods.yaml": """
            resource: goods
            access: {clerk: {read: all, rows: {area: {claim: areas}}}}
            sections:
              good: {table: goods, groups: {extra: extra, area: area}}
              parts: {list: true, table: parts, parent: good, groups: {n: n}}
            """,
            "parts.yaml": """
            resource: parts
            access: {clerk: {read: all, write: all, rows: all}}
            sections:
              part: {table: parts, groups: {n: {column: n, merge: add}}}
            """,
        ]
        let clerk = Rounds.Client("cleo", ["clerk"], claims: #"{"areas":[1]}"#)
        let database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        try await RunningGateway.with(database, rules: rules, tokens: clerk.line, journal: .together) {
            gateway async throws in
            try await database.run("ALTER TABLE goods RENAME COLUMN \(change.column) TO other;")
            let push =
                #"{"key":"b","edits":[{"resource":"parts","id":1,"changeset":{"part":{"n":{"old":0,"new":1}}}}]}"#
            for _ in 1...4 {
                let answer = try await gateway.post("/v1/push", push, as: clerk)
                #expect(answer.status == change.status, "\(answer.text)")
            }
            try await database.run("ALTER TABLE goods RENAME COLUMN other TO \(change.column);")
            try await OutageTests.until { try await gateway.post("/v1/push", push, as: clerk).status == 200 }
            #expect(try await database.run("SELECT n FROM parts;") == "1\n")
        }
    }

    @Test("A dropped table takes only its resource out of service", arguments: TestEngine.allCases)
    func aDroppedTable(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            try await database.run("DROP TABLE orders;")
            let refused = try await client.post("/v1/push", #"{"edits":[\#(Self.order(1, "first", "x"))]}"#)
            #expect(refused.status == 503 && refused.text.contains("resource-unavailable"), "\(refused.text)")
            #expect(
                try await client.post("/v1/push", #"{"edits":[\#(Self.label("b", "blue", "pink"))]}"#).status == 200)
        }
    }

    @Test("A sync runs the pushes that do not depend on a resource out of service", arguments: TestEngine.allCases)
    func dependentPushes(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            try await database.run("ALTER TABLE orders RENAME COLUMN title TO headline;")
            let creates = #"{"resource":"labels","id":"c","changeset":{"label":{"old":null,"new":{"text":"x"}}}}"#
            let body = Self.sync([
                ("1", [Self.order(1, "first", "x"), Self.label("b", "blue", "pink")]),
                ("2", [Self.label("a", "red", "green")]),
                ("3", [Self.label("b", "pink", "grey")]),
                ("4", [Self.order(2, "second", "y")]),
                ("5", [creates]),
            ])
            let answer = try await client.post("/v1/sync", body)
            #expect(
                try Self.codes(answer) == ["resource-unavailable", "merged", "not-run", "not-run", "merged"],
                "\(answer.text)")
            try await database.run("ALTER TABLE orders RENAME COLUMN headline TO title;")
            try await OutageTests.until { try await client.get("/v1/records/orders/1").status == 200 }
            let again = try await client.post("/v1/sync", body)
            #expect(try Self.codes(again) == ["merged", "merged", "merged", "merged", "merged"], "\(again.text)")
            #expect(
                try await database.run("SELECT code, text FROM labels ORDER BY code;")
                    == "a\tgreen\nb\tgrey\nc\tx\n")
            #expect(try await database.run("SELECT title FROM orders ORDER BY id;") == "x\ny\n")
        }
    }

    @Test("Other resources follow their own altered tables meanwhile", arguments: TestEngine.allCases)
    func othersFollow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            try await database.run(
                "ALTER TABLE orders RENAME COLUMN title TO headline; DROP TABLE labels;"
                    + "CREATE TABLE labels (code VARCHAR(40) PRIMARY KEY, text VARCHAR(60) NOT NULL, order_id BIGINT);"
                    + "INSERT INTO labels VALUES ('a', 'red', 9007199254740000);")
            try await OutageTests.until {
                try await client.post("/v1/push", #"{"edits":[\#(Self.label("a", "red", "red"))]}"#).status == 200
            }
            let record = try await client.get("/v1/records/labels/a")
            #expect(record.text.contains("9007199254740000"), "\(record.text)")
            #expect(try await client.get("/v1/records/orders/1").status == 503)
        }
    }

    private static let sqlSchema = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY #, title VARCHAR(40), hidden INT NOT NULL DEFAULT 0,
          paid INT NOT NULL DEFAULT 0);
        INSERT INTO orders (id, title) VALUES (1, 'first'), (2, 'second');
        CREATE TABLE labels (code VARCHAR(40) PRIMARY KEY, text VARCHAR(40) NOT NULL, order_id INT);
        INSERT INTO labels VALUES ('a', 'red', NULL), ('b', 'blue', NULL);
        """
    private static let sqlRules = [
        "labels.yaml": """
        resource: labels
        sections:
          label: {table: labels, key: code, groups: {text: text, order: {column: order_id, references: orders}}}
        """,
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            groups: {title: title}
            where: hidden = 0
            checks: [{name: paid, sql: "paid < 2", fields: [title]}]
        """,
    ]

    private static func withSQL(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: sqlSchema.replacing("#", with: "AUTO_INCREMENT"), sqlite: sqlSchema.replacing("#", with: ""))
        try await RunningGateway.with(
            database, rules: sqlRules, journal: .together, configure: { ScanFixture.configure(&$0) }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                try await client.hasScanned()
                try await body(gateway, client)
            }
        }
    }

    @Test(
        "A missing column that only SQL of the rules names takes only its resource out of service",
        arguments: TestEngine.allCases, ["hidden", "paid"])
    func columnsOfSQL(_ kind: TestEngine, _ column: String) async throws {
        try await Self.withSQL(kind) { gateway, client in
            let start = try await client.position()
            let other = try await gateway.client { events async throws in
                #expect(try await events.open("/v1/changes", ["Accept": "text/event-stream"]) == 200)
                _ = try await events.nextPiece()
                try await gateway.database.run("ALTER TABLE orders RENAME COLUMN \(column) TO other;")
                for _ in 1...3 {
                    let refused = try await client.post(
                        "/v1/push", #"{"key":"p","edits":[\#(Self.order(1, "first", "x"))]}"#)
                    #expect(refused.status == 503 && refused.text.contains("resource-unavailable"), "\(refused.text)")
                    #expect(refused.text.contains(#""retry":true"#) && refused.headers["retry-after"] != nil)
                }
                let merged = try await client.post("/v1/push", #"{"edits":[\#(Self.label("a", "red", "green"))]}"#)
                #expect(merged.status == 200, "\(merged.text)")
                while let piece = try await events.nextPiece() { if piece.contains("green") { return piece } }
                return ""
            }
            #expect(other.contains(#""resource":"labels""#))
            // Changes of other programs are reported too.
            try await gateway.database.run("UPDATE labels SET text = 'foreign' WHERE code = 'b';")
            try await OutageTests.until {
                try await client.get("/v1/changes?since=\(start.revision)&feed=\(start.feed)&resources=labels").text
                    .contains("foreign")
            }
            try await gateway.database.run("ALTER TABLE orders RENAME COLUMN other TO \(column);")
            try await OutageTests.until {
                try await client.post("/v1/push", #"{"key":"p","edits":[\#(Self.order(1, "first", "x"))]}"#).status
                    == 200
            }
        }
    }

    @Test("A push that uses a temporary id of a resource out of service waits", arguments: TestEngine.allCases)
    func temporaryIDs(_ kind: TestEngine) async throws {
        try await Self.withSQL(kind) { gateway, client in
            try await gateway.database.run("ALTER TABLE orders RENAME COLUMN hidden TO other;")
            let creates = #"{"resource":"orders","id":"tmp:o","changeset":{"order":{"old":null,"new":{"title":"n"}}}}"#
            let uses = #"{"resource":"labels","id":"a","changeset":{"label":{"order":{"old":null,"new":"tmp:o"}}}}"#
            let body = Self.sync([("1", [creates]), ("2", [uses]), ("3", [Self.label("b", "blue", "pink")])])
            let answer = try await client.post("/v1/sync", body)
            #expect(try Self.codes(answer) == ["resource-unavailable", "not-run", "merged"], "\(answer.text)")
            try await gateway.database.run("ALTER TABLE orders RENAME COLUMN other TO hidden;")
            try await OutageTests.until { try await client.get("/v1/records/orders/1").status == 200 }
            let again = try await client.post("/v1/sync", body)
            #expect(try Self.codes(again) == ["merged", "merged", "merged"], "\(again.text)")
            let joined = "SELECT title FROM labels JOIN orders ON order_id = id WHERE code = 'a';"
            #expect(try await gateway.database.run(joined) == "n\n")
        }
    }
}
