import Testing
import TestSupport

/// Updates whose order decides, although no assigned column does.
@Suite(.timeLimit(.minutes(5))) struct GeneratedUniqueTests {
    @Test(
        "A collision of generated values is a collision, although a later edit would repair it",
        arguments: TestEngine.allCases)
    func collision(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20),
              code VARCHAR(20) GENERATED ALWAYS AS (upper(name)) STORED UNIQUE);
            INSERT INTO people (id, name) VALUES (1, 'a'), (2, 'b');
            """
        let rules = ["people.yaml": "resource: people\nsections:\n  person: {table: people, groups: {name: name}}\n"]
        let edits = [(2, "b", "a"), (1, "a", "c")].map { id, old, new in
            #"{"resource": "people", "id": \#(id), "changeset": {"person": {"name": {"old": "\#(old)", "new": "\#(new)"}}}}"#
        }
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"edits": [\#(edits.joined(separator: ","))]}"#)
            }
            #expect(answer.status == 422, "\(answer.text)")
        }
        #expect(try await database.run("SELECT name FROM people ORDER BY id") == "a\nb\n")
    }

    @Test(
        "Rows of a partial index, or of an index with an expression, are written in the order of their edits",
        arguments: ["(name) WHERE id > 0", "(lower(name))", "(name COLLATE NOCASE)"])
    func order(_ index: String) async throws {
        let sql = """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE UNIQUE INDEX names ON people \(index);
            INSERT INTO people (id, name) VALUES (1, 'a'), (2, 'b');
            """
        let rules = ["people.yaml": "resource: people\nsections:\n  person: {table: people, groups: {name: name}}\n"]
        let edits = [(2, "b", "c"), (1, "a", "b")].map { id, old, new in
            #"{"resource": "people", "id": \#(id), "changeset": {"person": {"name": {"old": "\#(old)", "new": "\#(new)"}}}}"#
        }
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"edits": [\#(edits.joined(separator: ","))]}"#)
            }
            #expect(answer.status == 200, "\(answer.text)")
            let outcomes = try answer.json()["results"]?.array.map { $0["outcomes"]?[0]?["outcome"]?.text }
            #expect(outcomes == ["applied", "applied"], "\(answer.text)")
        }
        #expect(try await database.run("SELECT name FROM people ORDER BY id") == "b\nc\n")
    }

    @Test(
        "A singleton uses the reference that an earlier row of its edit has changed by a cascade",
        arguments: TestEngine.allCases)
    func cascade(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE orders (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE items (id INTEGER PRIMARY KEY, order_no INTEGER, code VARCHAR(20) UNIQUE);
            CREATE TABLE notes (order_no INTEGER PRIMARY KEY, code VARCHAR(20),
              FOREIGN KEY (code) REFERENCES items (code) ON UPDATE CASCADE);
            INSERT INTO orders VALUES (1, 'a');
            INSERT INTO items VALUES (7, 1, 'A'), (8, 1, 'C');
            INSERT INTO notes VALUES (1, 'A');
            """
        let rules = [
            "orders.yaml": """
            resource: orders
            sections:
              order: {table: orders, groups: {name: name}}
              items: {list: true, table: items, parent: {order_no: id}, groups: {code: code}}
              note: {table: notes, parent: {order_no: id}, groups: {code: {column: code, on-conflict: reject}}}
            """
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/merge/orders",
                    #"{"id": 1, "changeset": {"items": [{"id": 7, "code": {"old": "A", "new": "B"}}], "#
                        + #""note": {"code": {"old": "A", "new": "C"}}}}"#)
            }
            #expect(answer.status == 409, "\(answer.text)")
        }
        #expect(try await database.run("SELECT code FROM notes") == "A\n")
    }
}
