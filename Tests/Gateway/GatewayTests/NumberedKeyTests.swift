import Testing
import TestSupport

/// Keys whose last column the gateway numbers (`number: next`).
@Suite(.timeLimit(.minutes(5))) struct NumberedKeyTests {
    private static let mariadb = """
        CREATE TABLE orders (order_no INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(20));
        CREATE TABLE order_lines (order_no INT NOT NULL, line_no TINYINT NOT NULL, article VARCHAR(20),
          gone INT NOT NULL DEFAULT 0, code VARCHAR(20) UNIQUE, PRIMARY KEY (order_no, line_no));
        INSERT INTO orders VALUES (1, 'one'), (2, 'two');
        INSERT INTO order_lines (order_no, line_no, article, gone) VALUES (1, 1, 'nails', 0), (1, 2, 'screws', 0), (1, 3, 'glue', 1);
        """
    private static let sqlite = mariadb.replacing("INT AUTO_INCREMENT", with: "INTEGER")
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, groups: {note: note}}
          lines:
            list: true
            table: order_lines
            key: [order_no, line_no]
            number: next
            parent: order_no
            where: gone = 0
            groups: {article: article}
        """,
        "lines.yaml": """
        resource: lines
        sections:
          line:
            table: order_lines
            key: [order_no, line_no]
            number: next
            groups: {article: article, code: code}
        """,
    ]

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        try await TestDatabase(kind, mariadb: mariadb, sqlite: sqlite)
    }

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session) async throws -> Void
    ) async throws {
        try await RunningGateway.with(try await database(kind), rules: rules, journal: .together) { gateway in
            try await gateway.client { try await body(gateway, $0) }
        }
    }

    private static func line(_ article: String, id: String = "tmp:1") -> String {
        #"{"id":"\#(id)","old":null,"new":{"article":"\#(article)"}}"#
    }

    private static func numbers(_ database: TestDatabase, order: Int) async throws -> [String] {
        let text = try await database.run(
            "SELECT line_no FROM order_lines WHERE order_no = \(order) ORDER BY line_no;")
        return text.split(separator: "\n").map(String.init)
    }

    @Test(
        "Two devices that append a line both keep it, and a resent push has the number of its first answer",
        arguments: TestEngine.allCases)
    func appending(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, client in
            let push = { (device: String) in
                #"{"key":"\#(device)","edits":[{"resource":"orders","id":1,"changeset":{"lines":[\#(Self.line(device))]}}]}"#
            }
            let first = try await client.post("/v1/push", push("ann"))
            #expect(first.status == 200, "\(first.text)")
            // The hidden line 3 has a number too.
            let result = try first.json()["results"]?[0]
            #expect(result?["ids"]?["tmp:1"]?.array.compactMap(\.int) == [1, 4], "\(first.text)")
            #expect(result?["outcomes"]?[0]?["id"]?.array.compactMap(\.int) == [1, 4], "\(first.text)")
            #expect(result?["record"]?["lines"]?.array.last?["id"]?.array.compactMap(\.int) == [1, 4])
            let second = try await client.post("/v1/push", push("bob"))
            #expect(try second.json()["results"]?[0]?["ids"]?["tmp:1"]?.array.last?.int == 5, "\(second.text)")
            #expect(try await client.post("/v1/push", push("ann")).body == first.body)
            #expect(try await Self.numbers(gateway.database, order: 1) == ["1", "2", "3", "4", "5"])
        }
    }

    @Test("Concurrent pushes of two gateways and two resources keep all lines", arguments: TestEngine.allCases)
    func concurrency(_ kind: TestEngine) async throws {
        try await Self.appendFromEverywhere(to: try await Self.database(kind), devices: 8)
    }

    @Test("Under binlog STATEMENT concurrent pushes keep all lines too", .tags(.mariadb), .needsMariaDB)
    func concurrencyUnderRepeatableRead() async throws {
        let server = try await PrivateMariaDB(options: ["--log-bin", "--binlog-format=STATEMENT"])
        let database = try await TestDatabase(.mariadb, mariadb: Self.mariadb, sqlite: "", server: server)
        try await Self.appendFromEverywhere(to: database, devices: 4)
    }

    /// Devices append lines to one order, through two gateways and two resources.
    private static func appendFromEverywhere(to database: TestDatabase, devices: Int) async throws {
        try await RunningGateway.withTwo(database, rules: rules) { one, two in
            let numbers = try await withThrowingTaskGroup(of: [Int].self) { group in
                for device in 0..<devices {
                    group.addTask {
                        try await (device % 2 == 0 ? one : two).client { client in
                            try await append(5, by: "d\(device)", asItem: device % 4 < 2, client)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(numbers.sorted() == Array(1...devices * 5))
            let articles = try await database.run(
                "SELECT COUNT(DISTINCT article) FROM order_lines WHERE order_no = 2;")
            #expect(articles == "\(devices * 5)\n")
        }
    }

    /// Appends lines to order 2, which has none at first.
    ///
    /// - Returns: their numbers.
    private static func append(
        _ count: Int, by device: String, asItem: Bool, _ client: HTTPClient.Session
    ) async throws -> [Int] {
        var numbers: [Int] = []
        for number in 0..<count {
            let name = "\(device).\(number)"
            let edit =
                asItem
                ? #"{"resource":"orders","id":2,"changeset":{"lines":[\#(line(name))]}}"#
                : #"{"resource":"lines","id":[2,"tmp:1"],"changeset":{"line":{"old":null,"new":{"article":"\#(name)"}}}}"#
            let answer = try await client.post("/v1/push", #"{"key":"\#(name)","edits":[\#(edit)]}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let id = try answer.json()["results"]?[0]?["ids"]?["tmp:1"]?.array.last?.int
            numbers.append(try #require(id, "\(answer.text)"))
        }
        return numbers
    }

    @Test("A number that another transaction uses first is replaced", .tags(.mariadb), .needsMariaDB)
    func takenNumbers() async throws {
        try await Self.with(.mariadb) { gateway, client in
            let other = try gateway.database.session()
            try await other.run("BEGIN; INSERT INTO order_lines (order_no, line_no, article) VALUES (2, 1, 'foreign');")
            async let answer = client.post(
                "/v1/merge/orders", #"{"id":2,"changeset":{"lines":[\#(Self.line("own"))]}}"#)
            let waiting =
                "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE '%FOR UPDATE'"
            while try await gateway.database.run(waiting) == "0\n" { await Task.yield() }
            try await other.run("COMMIT;")
            let merged = try await answer
            #expect(merged.status == 200, "\(merged.text)")
            #expect(try merged.json()["ids"]?["tmp:1"]?.array.last?.int == 2, "\(merged.text)")
            #expect(try await Self.numbers(gateway.database, order: 2) == ["1", "2"])
        }
    }

    @Test(
        "A push can use the ids of its new rows, and those of an earlier push of its sync",
        arguments: TestEngine.allCases)
    func references(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, client in
            let push = """
                {"edits":[
                  {"resource":"lines","id":"tmp:b","changeset":{"line":{"code":{"old":null,"new":"x"}}}},
                  {"resource":"orders","id":"tmp:o","changeset":{"order":{"old":null,"new":{"note":"n"}},
                    "lines":[\(Self.line("a", id: "tmp:a")),{"id":["tmp:o","tmp:b"],"old":null,"new":{"article":"b"}},
                      {"old":null,"new":{"article":"c"}}]}}]}
                """
            let answer = try await client.post("/v1/push", push)
            #expect(answer.status == 200, "\(answer.text)")
            let ids = try answer.json()["results"]?[1]?["ids"]
            #expect(ids?["tmp:a"]?.array.compactMap(\.int) == [3, 1], "\(answer.text)")
            #expect(ids?["tmp:b"]?.array.compactMap(\.int) == [3, 2])
            let rows = "SELECT line_no, article, code FROM order_lines WHERE order_no = 3 ORDER BY line_no;"
            #expect(
                try await gateway.database.run(rows.replacing("code", with: "coalesce(code, '-')"))
                    == "1\ta\t-\n2\tb\tx\n3\tc\t-\n")
            let sync = """
                {"pushes":[
                  {"key":"1","edits":[{"resource":"orders","id":3,"changeset":{"lines":[\(Self.line("d", id: "tmp:d"))]}}]},
                  {"key":"2","edits":[{"resource":"lines","id":"tmp:d","changeset":{"line":{"code":{"old":null,"new":"y"}}}}]}]}
                """
            let synced = try await client.post("/v1/sync", sync)
            #expect(synced.status == 200, "\(synced.text)")
            #expect(try await gateway.database.run("SELECT line_no FROM order_lines WHERE code = 'y';") == "4\n")
        }
    }

    @Test("Clients do not choose numbers, and numbers can run out", arguments: TestEngine.allCases)
    func refusals(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, client in
            for (resource, edit) in [
                ("orders", #"{"id":1,"changeset":{"lines":[{"id":[1,9],"old":null,"new":{"article":"x"}}]}}"#),
                ("lines", #"{"id":[1,9],"changeset":{"line":{"old":null,"new":{"article":"x"}}}}"#),
                // The order's number comes from the client here.
                ("lines", #"{"id":"tmp:x","changeset":{"line":{"old":null,"new":{"article":"x"}}}}"#),
                ("lines", #"{"changeset":{"line":{"old":null,"new":{"article":"x"}}}}"#),
            ] {
                let refused = try await client.post("/v1/merge/\(resource)", edit)
                #expect(refused.status == 400, "\(refused.text)")
            }
            // A creation of an existing row is an edit of it.
            let met = try await client.post(
                "/v1/merge/lines", #"{"id":[1,2],"changeset":{"line":{"old":null,"new":{"article":"x"}}}}"#)
            #expect(met.status == 200, "\(met.text)")
            // Another unique index is no reason to try again.
            try await gateway.database.run("UPDATE order_lines SET code = 'taken' WHERE line_no = 1;")
            let collision = try await client.post(
                "/v1/merge/lines", #"{"id":[1,"tmp:1"],"changeset":{"line":{"old":null,"new":{"code":"taken"}}}}"#)
            #expect(collision.status == 422 && collision.text.contains(#""unique""#), "\(collision.text)")
            guard kind == .mariadb else { return }
            try await gateway.database.run("INSERT INTO order_lines (order_no, line_no) VALUES (1, 127);")
            let none = try await client.post(
                "/v1/merge/orders", #"{"id":1,"changeset":{"lines":[\#(Self.line("x"))]}}"#)
            #expect(none.status == 422 && none.text.contains("keys-exhausted"), "\(none.text)")
        }
    }

    @Test(
        "A push does not use the number of a line that it deletes, and undo brings the line back",
        arguments: TestEngine.allCases)
    func deletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway, client in
            let edit = #"{"id":[1,3],"changeset":{"line":{"old":{},"new":null}}}"#
            let answer = try await client.post(
                "/v1/push",
                #"{"edits":[{"resource":"lines",\#(edit.dropFirst()),{"resource":"lines","id":[1,"tmp:n"],"changeset":{"line":{"old":null,"new":{"article":"new"}}}}]}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try await Self.numbers(gateway.database, order: 1) == ["1", "2", "4"])
            #expect(try await client.post("/v1/journal/1/undo", "{}").status == 200)
            #expect(try await Self.numbers(gateway.database, order: 1) == ["1", "2", "3", "4"])
        }
    }

    @Test(
        "Tables without transactions are numbered too", .tags(.mariadb), .needsMariaDB, arguments: ["MyISAM", "Aria"])
    func nonTransactional(_ engine: String) async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: Self.mariadb.replacing(");\nCREATE", with: ") ENGINE=\(engine);\nCREATE")
                .replacing("(order_no, line_no));", with: "(order_no, line_no)) ENGINE=\(engine);"),
            sqlite: "")
        try await database.grantTableLocks()
        let rules = Self.rules.mapValues { $0 + "\nnon-transactional: allow\n" }
        try await RunningGateway.with(database, rules: rules) { one in
            try await RunningGateway.with(database, rules: rules) { two in
                try await Self.appendLines(by: [one, two, one, two])
            }
            #expect(try await Self.numbers(database, order: 2) == (1...16).map(String.init))
            // The compensations of a refused push delete its new line.
            let line = #"{"resource":"lines","id":[2,"tmp:c"],"changeset":{"line":{"old":null,"new":{"code":"c"}}}}"#
            let edits = [line, line.replacing("tmp:c", with: "tmp:d")].joined(separator: ",")
            let refused = try await one.client { try await $0.post("/v1/push", "{\"edits\":[\(edits)]}") }
            #expect(refused.status == 422 && refused.text.contains(#""unique""#), "\(refused.text)")
            #expect(try await Self.numbers(database, order: 2) == (1...16).map(String.init))
        }
    }

    private static func appendLines(by gateways: [RunningGateway]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (device, gateway) in gateways.enumerated() {
                group.addTask {
                    try await gateway.client { client in
                        for number in 0..<4 {
                            let answer = try await client.post(
                                "/v1/merge/orders",
                                #"{"id":2,"changeset":{"lines":[\#(line("\(device).\(number)"))]}}"#)
                            #expect(answer.status == 200, "\(answer.text)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
