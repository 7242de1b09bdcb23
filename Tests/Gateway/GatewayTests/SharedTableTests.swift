import Testing
import TestSupport

/// Rows that clients reach in two ways: no acknowledged addition is lost on either way.
@Suite(.serialized) struct SharedTableTests {
    /// Two resources that show the same rows.
    struct Layout: Sendable, CustomStringConvertible {
        let description: String
        let sql: String
        var engines = TestEngine.allCases
        let rules: [String: String]
        /// The edits that add to the counter of a row, one for each way to it.
        let edits: @Sendable (_ row: Int, _ delta: Int) -> [String]
        /// A trigger or another rule changes the counter as well, by so much for each edit of a kind.
        var expected: @Sendable (_ sums: [Int: Int], _ counts: [Int: Int]) -> [Int: Int] = { sums, _ in sums }
    }

    private static let rows = 6

    private static let tables = """
        CREATE TABLE homes (id INTEGER PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE things (id INTEGER PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE, home INTEGER, n INTEGER NOT NULL,
          gone INTEGER NOT NULL DEFAULT 0);
        INSERT INTO homes VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f');
        INSERT INTO things (id, code, home, n) VALUES
          (1, 'c1', 1, 100), (2, 'c2', 1, 100), (3, 'c3', 2, 100), (4, 'c4', 2, 100), (5, 'c5', 3, 100), (6, 'c6', 3, 100);
        """

    private static func things(_ name: String, table: String = "things", more: String = "") -> String {
        """
        resource: \(name)
        sections:
          thing:
            table: \(table)
            groups: {n: {column: n, merge: add}}
            \(more)
        """
    }

    private static func homes(_ kind: String) -> String {
        """
        resource: homes
        sections:
          home: {table: homes, groups: {name: name}}
          things:
            \(kind)
            table: things
            groups: {n: {column: n, merge: add}}
        """
    }

    private static func counter(_ resource: String, _ id: String, _ section: String, _ delta: Int) -> String {
        #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"n":{"old":0,"new":\#(delta)}}}}"#
    }

    private static func item(_ home: Int, _ row: Int, _ delta: Int) -> String {
        #"{"resource":"homes","id":\#(home),"changeset":{"things":[{"id":\#(row),"n":{"old":0,"new":\#(delta)}}]}}"#
    }

    static let list = Layout(
        description: "a list and a root", sql: tables,
        rules: ["homes.yaml": homes("list: true\n    parent: home"), "things.yaml": things("things")]
    ) { row, delta in
        [item((row + 1) / 2, row, delta), counter("things", "\(row)", "thing", delta)]
    }

    static let layouts = [
        list,
        Layout(
            description: "a singleton and a root",
            sql: tables + "UPDATE things SET home = id;",
            rules: ["homes.yaml": homes("parent: home"), "things.yaml": things("things")]
        ) { row, delta in
            [counter("homes", "\(row)", "things", delta), counter("things", "\(row)", "thing", delta)]
        },
        Layout(
            description: "two roots", sql: tables,
            rules: ["things.yaml": things("things"), "goods.yaml": things("goods")]
        ) { row, delta in
            [counter("goods", "\(row)", "thing", delta), counter("things", "\(row)", "thing", delta)]
        },
        Layout(
            description: "two roots with other keys", sql: tables,
            rules: ["things.yaml": things("things"), "goods.yaml": things("goods", more: "key: code")]
        ) { row, delta in
            [counter("goods", "\"c\(row)\"", "thing", delta), counter("things", "\(row)", "thing", delta)]
        },
        Layout(
            description: "a view and its table",
            sql: tables + "CREATE VIEW seen AS SELECT id, n FROM things WHERE gone = 0;", engines: [.mariadb],
            rules: ["things.yaml": things("things"), "seen.yaml": things("seen", table: "seen", more: "key: id")]
        ) { row, delta in
            [counter("seen", "\(row)", "thing", delta), counter("things", "\(row)", "thing", delta)]
        },
        Layout(
            description: "rows that are softly deleted and a list",
            sql: tables,
            rules: [
                "homes.yaml": homes("list: true\n    parent: home"),
                "things.yaml": things("things", more: "where: gone = 0\n    delete: {set: {gone: 1}}"),
            ]
        ) { row, delta in
            [item((row + 1) / 2, row, delta), counter("things", "\(row)", "thing", delta)]
        },
        Layout(
            description: "a singleton row that two records show",
            sql: tables + """
                ALTER TABLE homes ADD COLUMN thing INTEGER;
                UPDATE homes SET thing = id;
                INSERT INTO homes VALUES (11, 'a', 1), (12, 'b', 2), (13, 'c', 3), (14, 'd', 4), (15, 'e', 5), (16, 'f', 6);
                """,
            rules: ["homes.yaml": homes("parent: {id: thing}")]
        ) { row, delta in
            [counter("homes", "\(row)", "things", delta), counter("homes", "\(10 + row)", "things", delta)]
        },
    ]

    private static let cases = layouts.flatMap { layout in
        layout.engines.filter(TestEngine.allCases.contains).map { (layout, $0) }
    }

    // MARK: One push

    @Test("Two edits of one row in one push are both applied", arguments: cases)
    func twoEdits(_ layout: Layout, _ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: layout.sql, sqlite: layout.sql)
        try await RunningGateway.with(database, rules: layout.rules, journal: .together) { gateway async throws in
            for atomic in ["push", "edit"] {
                let edits = (layout.edits(4, 3) + layout.edits(4, 5)).joined(separator: ",")
                let answer = try await gateway.client {
                    try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits)]}"#)
                }
                #expect(answer.status == 200, "\(answer.text)")
                let outcomes = try answer.json()["results"]?.array.compactMap { result in
                    result["outcomes"]?.array.first?["outcome"]?.text
                }
                #expect(outcomes == ["combined", "combined", "combined", "combined"])
            }
        }
        #expect(try await database.run("SELECT n FROM things WHERE id = 4;") == "132\n")
    }

    /// A temporary id names a row of a table, whichever of the resources over it creates the row.
    @Test(
        "A temporary id names the row in every resource of its table", arguments: TestEngine.allCases,
        ["\"tmp:a\"", "-1"])
    func temporaryID(_ kind: TestEngine, _ id: String) async throws {
        let number = kind == .mariadb ? "AUTO_INCREMENT" : ""
        let sql = """
            CREATE TABLE homes (id INTEGER PRIMARY KEY \(number), name VARCHAR(20), next INTEGER,
              FOREIGN KEY (next) REFERENCES homes (id));
            CREATE TABLE things (id INTEGER PRIMARY KEY, home INTEGER, FOREIGN KEY (home) REFERENCES homes (id));
            INSERT INTO things VALUES (1, NULL);
            """
        let home = "sections:\n  home: {table: homes, groups: {name: name, next: next}}\n"
        let rules = [
            "cabins.yaml": "resource: cabins\n" + home, "homes.yaml": "resource: homes\n" + home,
            "things.yaml": "resource: things\nsections:\n  thing: {table: things, groups: {home: home}}\n",
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            for (created, other) in [("homes", "cabins"), ("cabins", "homes")] {
                let body = """
                    {"edits":[
                      {"resource":"\(other)","id":\(id),"changeset":{"home":{"name":{"old":"new","new":"\(created)"}}}},
                      {"resource":"things","id":1,"changeset":{"thing":{"home":{"old":null,"new":\(id)}}}},
                      {"resource":"\(created)","id":\(id),"changeset":{"home":{"old":null,"new":{"name":"new"}}}}]}
                    """
                let answer = try await gateway.client { try await $0.post("/v1/push", body) }
                #expect(answer.status == 200, "\(answer.text)")
                let circle = """
                    {"edits":[{"resource":"\(created)","id":\(id),
                      "changeset":{"home":{"old":null,"new":{"next":\(id)}}}}]}
                    """
                #expect(try await gateway.client { try await $0.post("/v1/push", circle) }.status == 400)
            }
        }
        #expect(try await database.run("SELECT name FROM homes ORDER BY id;") == "homes\ncabins\n")
        #expect(try await database.run("SELECT home FROM things;") == "2\n")
    }

    @Test(
        "No answer contains the key of a reverted row, also not through another resource",
        arguments: TestEngine.allCases)
    func revertedRow(_ kind: TestEngine) async throws {
        let number = kind == .mariadb ? "AUTO_INCREMENT" : ""
        let sql = """
            CREATE TABLE homes (id INTEGER PRIMARY KEY \(number), name VARCHAR(20));
            INSERT INTO homes (id, name) VALUES (1, 'a');
            """
        let home = "sections:\n  home: {table: homes, on-conflict: reject, groups: {name: name}}\n"
        let rules = ["cabins.yaml": "resource: cabins\n" + home, "homes.yaml": "resource: homes\n" + home]
        let body = """
            {"edits":[
              {"resource":"homes","id":"tmp:a","changeset":{"home":{"old":null,"new":{"name":"b"}}}},
              {"resource":"cabins","id":"tmp:a","changeset":{"home":{"name":{"old":"b","new":"c"}}}},
              {"resource":"homes","id":1,"changeset":{"home":{"name":{"old":"x","new":"y"}}}}]}
            """
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client { try await $0.post("/v1/push", body) }
            #expect(answer.status == 409, "\(answer.text)")
            let results = try answer.json()["results"]?.array ?? []
            #expect(results.count == 3)
            for result in results.prefix(2) { #expect(result["id"]?.int == nil, "\(answer.text)") }
        }
    }

    // MARK: Many clients

    @Test("Additions of many clients are all stored", arguments: cases)
    func additions(_ layout: Layout, _ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: layout.sql, sqlite: layout.sql)
        let rounds = kind == .mariadb ? 25 : 10
        let sums = try await RunningGateway.withTwo(database, rules: layout.rules) { first, second async throws in
            try await Self.add(layout, rounds, through: [first, second])
        }
        let stored = try await database.run("SELECT id, n FROM things ORDER BY id;")
        let wanted = (1...Self.rows).map { "\($0)\t\(100 + (sums[$0] ?? 0))\n" }.joined()
        #expect(stored == wanted, "\(layout)")
    }

    /// - Returns: the acknowledged additions for each row.
    private static func add(_ layout: Layout, _ rounds: Int, through gateways: [RunningGateway]) async throws -> [Int:
        Int]
    {
        try await withThrowingTaskGroup(of: [Int: Int].self) { group in
            for client in 0..<24 {
                let gateway = gateways[client % gateways.count]
                group.addTask {
                    try await gateway.client { session in
                        var random = SeededRandom(seed: client)
                        var sums: [Int: Int] = [:]
                        for round in 0..<rounds {
                            let row = Int.random(in: 1...rows, using: &random)
                            let delta = 1 + client + 100 * round
                            let edits = layout.edits(row, delta)
                            let edit = edits[Int.random(in: edits.indices, using: &random)]
                            let answer = try await session.post("/v1/push", #"{"edits":[\#(edit)]}"#)
                            if answer.status == 200 {
                                sums[row, default: 0] += delta
                            } else {
                                // An addition to a busy row is not acknowledged.
                                #expect(answer.status == 503, "\(answer.text)")
                            }
                        }
                        return sums
                    }
                }
            }
            return try await group.reduce(into: [:]) { all, sums in all.merge(sums) { $0 + $1 } }
        }
    }

    // MARK: A singleton whose key is its record's

    /// The row of a singleton is the root of another resource under the same key.
    @Test(
        "A later edit reads a singleton as the earlier edit wrote it", arguments: TestEngine.allCases, ["push", "edit"])
    func singleton(_ kind: TestEngine, atomic: String) async throws {
        let sql = """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE badges (person INTEGER PRIMARY KEY, colour VARCHAR(20), n INTEGER);
            INSERT INTO people VALUES (1, 'a');
            INSERT INTO badges VALUES (1, 'c', 0);
            """
        let rules = [
            "people.yaml": """
            resource: people
            sections:
              person: {table: people, groups: {name: name}}
              badge: {table: badges, parent: person, groups: {colour: colour, n: {column: n, merge: add}}}
            """,
            "badges.yaml": """
            resource: badges
            sections:
              badge: {table: badges, groups: {badge: {fields: {colour: colour, n: n}}}}
            """,
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let edits = [
                #"{"resource":"people","id":1,"changeset":{"badge":{"colour":{"old":"c","new":"b"}}}}"#,
                #"{"resource":"badges","id":1,"changeset":{"badge":{"badge":{"old":{"colour":"c","n":3},"new":{"colour":"c","n":0}}}}}"#,
            ]
            let answer = try await gateway.client {
                try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#)
            }
            let kinds = try answer.json()["results"]?.array.map { $0["outcomes"]?.array.first?["outcome"]?.text }
            #expect(kinds == ["applied", "client-won"], "\(answer.text)")
            #expect(try await database.run("SELECT colour, n FROM badges;") == "c\t0\n")
        }
    }

    // MARK: Checks

    /// A row that a push inserts through any resource has no earlier value for `server-wins`.
    @Test(
        "A failed check refuses a new row, which has no earlier value", arguments: TestEngine.allCases,
        ["push", "edit"])
    func checkOfNewRow(_ kind: TestEngine, _ atomic: String) async throws {
        let sql = """
            CREATE TABLE homes (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE things (id VARCHAR(5) NOT NULL PRIMARY KEY, home INTEGER, n INTEGER);
            INSERT INTO homes VALUES (1, 'a');
            """
        let rules = [
            "homes.yaml": """
            resource: homes
            sections:
              home: {table: homes, groups: {name: name}}
              things: {table: things, list: true, parent: {home: id}, groups: {n: n}}
            """,
            "things.yaml": """
            resource: things
            sections:
              thing:
                table: things
                groups: {n: n}
                checks: [{name: small, sql: n < 5, fields: [n], on-failure: server-wins}]
            """,
        ]
        let creations = [
            #"{"resource":"homes","id":1,"changeset":{"things":[{"id":"t","old":null,"new":{"n":2}}]}}"#,
            #"{"resource":"things","id":"t","changeset":{"thing":{"old":null,"new":{"n":2}}}}"#,
        ]
        let edit = #"{"resource":"things","id":"t","changeset":{"thing":{"n":{"old":2,"new":7}}}}"#
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            for creation in creations {
                let answer = try await gateway.client {
                    try await $0.post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(creation),\#(edit)]}"#)
                }
                let results = try answer.json()["results"]?.array ?? []
                if atomic == "push" {
                    #expect(
                        answer.status == 422 && results.last?["problem"]?["code"]?.text == "check", "\(answer.text)")
                    #expect(try await database.run("SELECT count(*) FROM things;") == "0\n")
                } else {
                    #expect(results.last?["outcomes"]?[0]?["outcome"]?.text == "server-won", "\(answer.text)")
                    #expect(try await database.run("SELECT n FROM things;") == "2\n")
                }
                try await database.run("DELETE FROM things;")
            }
        }
    }

    // MARK: Deletions together with edits

    @Test(
        "A row that a cascade deletes is missing for later edits, in one push or in several",
        arguments: TestEngine.allCases)
    func cascade(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE homes (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE things (id INTEGER PRIMARY KEY, home INTEGER, n INTEGER NOT NULL,
              FOREIGN KEY (home) REFERENCES homes (id) ON DELETE CASCADE);
            CREATE TABLE marks (id INTEGER PRIMARY KEY, thing INTEGER, n INTEGER NOT NULL,
              FOREIGN KEY (thing) REFERENCES things (id) ON DELETE SET NULL);
            INSERT INTO homes VALUES (1, 'a'), (2, 'b');
            INSERT INTO things VALUES (4, 1, 10), (5, 2, 10);
            INSERT INTO marks VALUES (7, 4, 1);
            """
        let rules = [
            "homes.yaml": "resource: homes\nsections:\n  home: {table: homes, groups: {name: name}}\n",
            "things.yaml": Self.things("things"),
            "marks.yaml": """
            resource: marks
            sections:
              mark: {table: marks, groups: {thing: {column: thing, on-conflict: server-wins}, n: n}}
            """,
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/push",
                    #"{"edits":[{"resource":"things","id":4,"changeset":{"thing":{"n":{"old":10,"new":12}}}},"#
                        + #"{"resource":"marks","id":7,"changeset":{"mark":{"n":{"old":1,"new":2}}}},"#
                        + #"{"resource":"homes","id":1,"changeset":{"home":{"old":{"name":"a"},"new":null}}},"#
                        + #"{"resource":"things","id":4,"changeset":{"thing":{"n":{"old":12,"new":14}}}},"#
                        + #"{"resource":"marks","id":7,"changeset":{"mark":{"thing":{"old":4,"new":5}}}}]}"#)
            }
            let kinds = try answer.json()["results"]?.array.map { $0["outcomes"]?.array.first?["outcome"]?.text }
            #expect(kinds == ["applied", "applied", "deleted", "missing", "server-won"], "\(answer.text)")
            #expect(try await database.run("SELECT n, thing FROM marks;").hasPrefix("2\t"))
        }
    }

    @Test("Additions count until the row is deleted, whatever the order of the clients", arguments: TestEngine.allCases)
    func softDeletion(_ kind: TestEngine) async throws {
        let layout = Self.layouts[5]
        let database = try await TestDatabase(kind, mariadb: layout.sql, sqlite: layout.sql)
        try await RunningGateway.with(database, rules: layout.rules, journal: .together) { gateway async throws in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/push",
                    #"{"edits":[{"resource":"things","id":4,"changeset":{"thing":{"old":{"n":100},"new":null}}},"#
                        + Self.item(2, 4, 3) + "," + Self.counter("things", "4", "thing", 3) + "]}")
            }
            let kinds = try answer.json()["results"]?.array.map { $0["outcomes"]?.array.first?["outcome"]?.text }
            #expect(kinds == ["deleted", "combined", "missing"], "\(answer.text)")
            #expect(try await database.run("SELECT n, gone FROM things WHERE id = 4;") == "103\t1\n")
        }
    }

    // MARK: Triggers

    /// With the documented rights and with more.
    @Test("A later edit reads the value that a trigger wrote to another table", arguments: TestEngine.allCases)
    func trigger(_ kind: TestEngine) async throws {
        let trigger =
            kind == .mariadb
            ? "CREATE TRIGGER total AFTER UPDATE ON things FOR EACH ROW "
                + "UPDATE homes SET name = name + NEW.n - OLD.n WHERE id = NEW.home;"
            : "CREATE TRIGGER total AFTER UPDATE ON things BEGIN "
                + "UPDATE homes SET name = name + NEW.n - OLD.n WHERE id = NEW.home; END;"
        let sql =
            Self.tables.replacing("name VARCHAR(20)", with: "name INTEGER")
            .replacing(#/'[a-f]'/#, with: "200") + trigger
        let rules = [
            "homes.yaml": Self.homes("list: true\n    parent: home").replacing(
                "{name: name}", with: "{name: {column: name, merge: add}}"),
            "things.yaml": Self.things("things"),
        ]
        let home = #"{"resource":"homes","id":2,"changeset":{"home":{"name":{"old":0,"new":1}}}}"#
        let both =
            #"{"resource":"homes","id":2,"changeset":{"home":{"name":{"old":0,"new":1}},"things":[{"id":3,"n":{"old":0,"new":7}}]}}"#
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            let edits = [Self.counter("things", "4", "thing", 5), home, both, home].joined(separator: ",")
            let answer = try await gateway.client { try await $0.post("/v1/push", #"{"edits":[\#(edits)]}"#) }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try await database.run("SELECT name FROM homes WHERE id = 2;") == "215\n")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<16 {
                    group.addTask {
                        try await gateway.client { session in
                            for _ in 0..<10 {
                                let edit = client % 2 == 0 ? home : Self.counter("things", "4", "thing", 1)
                                let answer = try await session.post("/v1/push", #"{"edits":[\#(edit)]}"#)
                                #expect(answer.status == 200, "\(answer.text)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await database.run("SELECT name FROM homes WHERE id = 2;") == "375\n")
        }
    }
}
