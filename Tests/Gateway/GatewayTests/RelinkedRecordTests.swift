import Testing
import TestSupport

/// Rows of a record whose link the database changes during the same edit.
@Suite(.timeLimit(.minutes(5))) struct RelinkedRecordTests {
    private static let generated = """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20),
          code VARCHAR(20) GENERATED ALWAYS AS (upper(name)) STORED UNIQUE);
        CREATE TABLE items (id INTEGER PRIMARY KEY, code VARCHAR(20), what VARCHAR(20));
        CREATE TABLE profiles (code VARCHAR(20) NOT NULL PRIMARY KEY, bio VARCHAR(20));
        INSERT INTO customers (id, name) VALUES (1, 'a');
        INSERT INTO items VALUES (7, 'A', 'x'), (8, 'B', 'y');
        INSERT INTO profiles VALUES ('A', 'old'), ('B', 'other');
        """
    private static let plain = generated.replacing("GENERATED ALWAYS AS (upper(name)) STORED UNIQUE", with: "UNIQUE")
        .replacing("customers (id, name) VALUES (1, 'a')", with: "customers VALUES (1, 'a', 'A')")
    private static func trigger(_ kind: TestEngine) -> String {
        kind == .mariadb
            ? "CREATE TRIGGER codes BEFORE UPDATE ON customers FOR EACH ROW SET NEW.code = UPPER(NEW.name);"
            : "CREATE TRIGGER codes AFTER UPDATE OF name ON customers BEGIN "
                + "UPDATE customers SET code = upper(NEW.name) WHERE id = NEW.id; END;"
    }

    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer: {table: customers, key: id, groups: {name: name}, read-only: {code: code}}
          items:
            list: true
            table: items
            key: id
            client-keys: allow
            parent: {code: code}
            groups: {what: what}
          profile: {table: profiles, parent: {code: code}, groups: {bio: {column: bio, on-conflict: reject}}}
        """
    ]

    private static func push(_ database: TestDatabase, _ changes: String) async throws -> HTTPClient.Answer {
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client {
                try await $0.post("/v1/merge/customers", #"{"id": 1, "changeset": {\#(changes)}}"#)
            }
        }
    }

    private static func items(_ answer: HTTPClient.Answer) throws -> [Int?]? {
        try answer.json()["record"]?["items"]?.array.map { $0["id"]?.int }
    }

    private static let renamed = #""customer": {"name": {"old": "a", "new": "b"}}"#
    private static let created = #""items": [{"id": 9, "old": null, "new": {"what": "mine"}}]"#

    @Test("A new item has the link that the database generates", arguments: TestEngine.allCases)
    func generatedLink(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.generated, sqlite: Self.generated)
        let answer = try await Self.push(database, Self.renamed + ", " + Self.created)
        #expect(try Self.items(answer) == [8, 9], "\(answer.text)")
        #expect(try await database.run("SELECT code FROM items WHERE id = 9") == "B\n")
    }

    @Test(
        "A new item has the link that a trigger sets, whether or not the gateway may list triggers",
        arguments: TestEngine.allCases, [true, false])
    func triggeredLink(_ kind: TestEngine, mayListTriggers: Bool) async throws {
        let sql = Self.plain + Self.trigger(kind)
        let documented = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let database = mayListTriggers ? try await documented.withRight("TRIGGER") : documented
        let answer = try await Self.push(database, Self.renamed + ", " + Self.created)
        #expect(try Self.items(answer) == [8, 9], "\(answer.text)")
        #expect(try await database.run("SELECT code FROM items WHERE id = 9") == "B\n")
    }

    @Test("A singleton's edit uses the row of the new link", arguments: TestEngine.allCases)
    func singleton(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.generated, sqlite: Self.generated)
        let answer = try await Self.push(
            database, Self.renamed + #", "profile": {"bio": {"old": "old", "new": "new"}}"#)
        #expect(answer.status == 409, "\(answer.text)")
        #expect(try await database.run("SELECT bio FROM profiles ORDER BY code") == "old\nother\n")
    }

    @Test("Each new item has the link that a trigger on the items sets")
    func triggerOnItems() async throws {
        let sql =
            Self.plain
            + "CREATE TRIGGER counts AFTER INSERT ON items BEGIN "
            + "UPDATE items SET code = code || '1' WHERE code = NEW.code; "
            + "UPDATE customers SET code = code || '1' WHERE id = 1; END;"
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: sql)
        let answer = try await Self.push(
            database,
            #""items": [{"id": 9, "old": null, "new": {"what": "a"}}, {"id": 10, "old": null, "new": {"what": "b"}}]"#)
        #expect(try Self.items(answer) == [7, 9, 10], "\(answer.text)")
    }

    @Test("An item follows the generated column that its foreign key names", arguments: TestEngine.allCases)
    func cascade(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20), code VARCHAR(20) UNIQUE);
            CREATE TABLE items (id INTEGER PRIMARY KEY, code VARCHAR(20), what VARCHAR(20),
              FOREIGN KEY (code) REFERENCES customers (code) ON UPDATE CASCADE);
            CREATE TABLE profiles (code VARCHAR(20) NOT NULL PRIMARY KEY, bio VARCHAR(20));
            INSERT INTO customers VALUES (1, 'a', 'A');
            INSERT INTO items VALUES (7, 'A', 'x');
            """
        // InnoDB has no cascades to generated columns.
        let whole =
            kind == .sqlite
            ? sql.replacing(
                "code VARCHAR(20) UNIQUE", with: "code TEXT GENERATED ALWAYS AS (upper(name)) STORED UNIQUE"
            )
            .replacing("customers VALUES (1, 'a', 'A')", with: "customers (id, name) VALUES (1, 'a')")
            : sql + Self.trigger(kind)
        let database = try await TestDatabase(kind, mariadb: whole, sqlite: whole)
        let answer = try await Self.push(
            database,
            Self.renamed + #", "items": [{"id": 7, "what": {"old": "x", "new": "z"}}]"#)
        #expect(try Self.items(answer) == [7], "\(answer.text)")
        #expect(try await database.run("SELECT code, what FROM items") == "B\tz\n", "\(answer.text)")
    }
}
