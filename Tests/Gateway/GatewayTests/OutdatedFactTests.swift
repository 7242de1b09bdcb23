import Testing
import TestSupport

/// Later edits of a push read rows that a write has changed through a view, a trigger, or another table.
@Suite(.serialized) struct OutdatedFactTests {
    private static func outcomes(_ answer: HTTPClient.Answer) throws -> [String?] {
        try answer.json()["results"]?.array.flatMap { result in
            (result["outcomes"]?.array ?? []).map { $0["outcome"]?.text }
        } ?? []
    }

    // MARK: Views

    private static let stock = """
        CREATE TABLE goods (id INTEGER PRIMARY KEY, stock INTEGER NOT NULL, name VARCHAR(20));
        INSERT INTO goods VALUES (1, 5, 'tea'), (2, 5, 'tea');
        CREATE VIEW shelf AS SELECT id, stock, name FROM goods;
        """

    private static func goods(_ resource: String, _ table: String) -> String {
        """
        resource: \(resource)
        sections:
          item:
            table: \(table)
            key: id
            groups: {stock: {column: stock, merge: add}, name: {column: name, on-conflict: reject}}
        """
    }

    @Test(
        "An edit through a view reads an earlier edit of the table, and the reverse",
        .needsMariaDB,
        arguments: [["goods", "shelf"], ["shelf", "goods"]], ["push", "edit"])
    func view(_ order: [String], _ atomic: String) async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.stock, sqlite: "")
        let rules = ["goods.yaml": Self.goods("goods", "goods"), "shelf.yaml": Self.goods("shelf", "shelf")]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            func push(_ id: Int, _ group: String, _ values: [String]) async throws -> HTTPClient.Answer {
                let edits = zip(order, values).map { resource, value in
                    #"{"resource":"\#(resource)","id":\#(id),"changeset":{"item":{"\#(group)":\#(value)}}}"#
                }
                return try await gateway.client {
                    try await $0.post(
                        "/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#)
                }
            }
            let sum = try await push(1, "stock", [#"{"old":5,"new":6}"#, #"{"old":5,"new":6}"#])
            #expect(try Self.outcomes(sum) == ["applied", "combined"], "\(sum.text)")
            let names = try await push(2, "name", [#"{"old":"tea","new":"oil"}"#, #"{"old":"tea","new":"rice"}"#])
            #expect(try Self.outcomes(names).last == "rejected", "\(names.text)")
        }
        let name = atomic == "edit" ? "oil" : "tea"
        #expect(try await database.run("SELECT stock, name FROM goods ORDER BY id;") == "7\ttea\n5\t\(name)\n")
    }

    // MARK: Triggers

    private static let people = """
        CREATE TABLE teams (id INTEGER PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE people (id INTEGER PRIMARY KEY NUMBER, team INTEGER NOT NULL, first VARCHAR(20), full VARCHAR(50),
          age INTEGER);
        INSERT INTO teams VALUES (1, 'a');
        INSERT INTO people VALUES (1, 1, 'Ann', 'Ann Z', 1);
        """

    @Test(
        "A creation finds the row whose identity a trigger has changed", arguments: TestEngine.allCases, [true, false])
    func identity(_ kind: TestEngine, mayListTriggers: Bool) async throws {
        let trigger =
            kind == .mariadb
            ? "CREATE TRIGGER names BEFORE UPDATE ON people FOR EACH ROW SET NEW.full = CONCAT(NEW.first, ' Z');"
            : "CREATE TRIGGER names AFTER UPDATE OF first ON people BEGIN "
                + "UPDATE people SET full = NEW.first || ' Z' WHERE id = NEW.id; END;"
        let sql = Self.people.replacing("NUMBER", with: kind == .mariadb ? "AUTO_INCREMENT" : "") + trigger
        let documented = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let database = mayListTriggers ? try await documented.withRight("TRIGGER") : documented
        let rules = [
            "teams.yaml": """
            resource: teams
            sections:
              team: {table: teams, groups: {name: name}}
              people:
                list: true
                table: people
                parent: team
                identity: [full]
                groups: {first: first, full: full, age: age}
            """
        ]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/merge/teams",
                    #"{"id":1,"changeset":{"people":[{"id":1,"first":{"old":"Ann","new":"Bea"}},"#
                        + #"{"id":"tmp:a","old":null,"new":{"first":"Bea","full":"Bea Z","age":5}}]}}"#)
            }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.json()["ids"]?["tmp:a"]?.int == 1, "\(answer.text)")
        }
        #expect(try await database.run("SELECT id, age FROM people;") == "1\t5\n")
    }

    @Test(
        "An edit reads the row that a trigger has changed through another table and a foreign key",
        .needsMariaDB, arguments: ["push", "edit"])
    func returningCascade(_ atomic: String) async throws {
        let sql = """
            CREATE TABLE prices (id INTEGER PRIMARY KEY, code INTEGER NOT NULL UNIQUE) ENGINE = InnoDB;
            CREATE TABLE articles (id INTEGER PRIMARY KEY, n INTEGER, price INTEGER,
              FOREIGN KEY (price) REFERENCES prices (code) ON UPDATE CASCADE) ENGINE = InnoDB;
            INSERT INTO prices VALUES (1, 10), (2, 20);
            INSERT INTO articles VALUES (1, 5, 10), (3, 5, 20);
            CREATE TRIGGER codes AFTER UPDATE ON articles FOR EACH ROW
              UPDATE prices SET code = code + 1 WHERE id = 1 AND NEW.id = 3;
            """
        let documented = try await TestDatabase(.mariadb, mariadb: sql, sqlite: "")
        let database = try await documented.withRight("TRIGGER")
        let rules = [
            "articles.yaml": """
            resource: articles
            sections:
              article: {table: articles, groups: {n: n, price: {column: price, on-conflict: reject}}}
            """
        ]
        let edits = [
            #"{"resource":"articles","id":3,"changeset":{"article":{"n":{"old":5,"new":6}}}}"#,
            #"{"resource":"articles","id":1,"changeset":{"article":{"price":{"old":10,"new":20}}}}"#,
        ]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#)
            }
            #expect(try Self.outcomes(answer).last == "rejected", "\(answer.text)")
        }
        let price = atomic == "edit" ? "11" : "10"
        #expect(try await database.run("SELECT price FROM articles WHERE id = 1;") == price + "\n")
    }

    // MARK: Conditions that read other rows

    @Test("An edit finds a row that an earlier edit of another table made visible", arguments: TestEngine.allCases)
    func visibility(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE items (id INTEGER PRIMARY KEY, n INTEGER);
            CREATE TABLE flags (id INTEGER PRIMARY KEY, item INTEGER, hidden INTEGER);
            INSERT INTO items VALUES (1, 1);
            INSERT INTO flags VALUES (1, 1, 1);
            """
        let rules = [
            "items.yaml": """
            resource: items
            sections:
              item:
                table: items
                where: not exists (SELECT 1 FROM flags f WHERE f.item = items.id AND f.hidden = 1)
                groups: {n: n}
            """,
            "flags.yaml": "resource: flags\nsections:\n  flag: {table: flags, groups: {hidden: hidden}}\n",
        ]
        let edits = [
            #"{"resource":"flags","id":1,"changeset":{"flag":{"hidden":{"old":1,"new":0}}}}"#,
            #"{"resource":"items","id":1,"changeset":{"item":{"n":{"old":1,"new":2}}}}"#,
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
            }
            #expect(try Self.outcomes(answer) == ["applied", "applied"], "\(answer.text)")
        }
        #expect(try await database.run("SELECT n FROM items;") == "2\n")
    }
}
