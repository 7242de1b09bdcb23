import Gateway
import MergeService
import TestSupport
import Testing

/// Pushes that can never succeed.
///
/// Each is refused once, is stored in the journal, and does not delay later pushes.
@Suite(.timeLimit(.minutes(3))) struct FinalPushTests {
    private static func push(_ key: String, _ resource: String, _ edit: String) -> String {
        #"{"key":"\#(key)","edits":[{"resource":"\#(resource)",\#(edit)}]}"#
    }

    /// Sends a push that is refused and one that is merged, twice, and expects that the refusal is final and stored.
    ///
    /// - Returns: the problem.
    @discardableResult
    private static func proveFinal(
        _ refused: String, then good: String, code: String, _ client: HTTPClient.Session, _ database: TestDatabase
    ) async throws -> JSON? {
        let body = #"{"pushes":[\#(refused),\#(good)]}"#
        let first = try await client.post("/v1/sync", body)
        let results = try first.json()["results"]?.array ?? []
        #expect(results.map { $0["status"]?.text } == ["failed", "merged"], "\(first.text)")
        #expect(results.first?["code"]?.int == 422, "\(first.text)")
        let problem = results.first?["results"]?[0]?["problem"]
        #expect(problem?["code"]?.text == code, "\(first.text)")
        #expect(problem?["retry"]?.bool == false, "\(first.text)")
        #expect((problem?["status"]?.int ?? 500) < 500, "\(first.text)")
        let again = try await client.post("/v1/sync", body)
        #expect(try again.json()["results"] == first.json()["results"], "\(again.text)")
        #expect(
            try await database.runOnJournal("SELECT reason FROM entries WHERE body IS NOT NULL;") == code + "\n")
        return problem
    }

    private static let listRules = [
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, groups: {name: name}}
          lines: {list: true, table: parts, parent: {order_id: id}, groups: {what: what}}
        """
    ]

    private static func orders(_ kind: TestEngine) async throws -> TestDatabase {
        let sql = """
            CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL);
            CREATE TABLE parts (id INT PRIMARY KEY, order_id INT NOT NULL, what VARCHAR(20) NOT NULL,
              FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
            INSERT INTO orders VALUES (1, 'one'), (2, 'two');
            INSERT INTO parts VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c');

            """
        return try await TestDatabase(kind, mariadb: sql, sqlite: sql)
    }

    private static let rename = push(
        "good", "orders", #""id":2,"changeset":{"order":{"name":{"old":"two","new":"zwei"}}}"#)

    @Test("The refusal of a push that would delete too many rows by cascade is final", arguments: TestEngine.allCases)
    func tooManyCascades(_ kind: TestEngine) async throws {
        let rules = ["orders.yaml": "resource: orders\nsections:\n  order: {table: orders, groups: {name: name}}\n"]
        let database = try await Self.orders(kind)
        let rows = (10...10_050).map { "(\($0), 1, 'x')" }.joined(separator: ",")
        try await database.run("INSERT INTO parts VALUES \(rows);")
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let delete = Self.push(
                    "bad", "orders", #""id":1,"changeset":{"order":{"old":{"name":"one"},"new":null}}"#)
                let problem = try await Self.proveFinal(
                    delete, then: Self.rename, code: "record-too-large", client, database)
                #expect(problem?["path"]?.text == "edits[0].changeset.order", "\(problem?.description ?? "")")
                #expect(try await database.run("SELECT COUNT(*) FROM orders;") == "2\n")
            }
        }
    }

    @Test("A push to a record with more rows than the limit is final", arguments: TestEngine.allCases)
    func tooManyRows(_ kind: TestEngine) async throws {
        let database = try await Self.orders(kind)
        try await RunningGateway.with(
            database, rules: Self.listRules, journal: .together, configure: { $0.merge.rowsPerRecord = 2 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                // The deletion of a record deletes the rows of its lists, and reads them all.
                let delete = Self.push(
                    "bad", "orders", #""id":1,"changeset":{"order":{"old":{"name":"one"},"new":null}}"#)
                try await Self.proveFinal(delete, then: Self.rename, code: "record-too-large", client, database)
                #expect(try await database.run("SELECT COUNT(*) FROM parts;") == "3\n")
            }
        }
    }

    @Test("A push that needs a right which the database user lacks is final", .tags(.mariadb), .needsMariaDB)
    func missingGrant() async throws {
        let database = try await Self.orders(.mariadb)
        try await RunningGateway.with(database, rules: Self.listRules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let parts = "\(database.name).parts"
                try await database.runAsOperator("REVOKE DELETE ON \(parts) FROM \(database.accountSQL)")
                let delete = Self.push(
                    "bad", "orders", #""id":1,"changeset":{"lines":[{"id":1,"old":{"what":"a"},"new":null}]}"#)
                try await Self.proveFinal(delete, then: Self.rename, code: "database-denied", client, database)
                let folder = try TemporaryFolder(files: Self.listRules)
                let said = try await Shell.capture(
                    [CommandLineTests.program, "journal", "refused"],
                    environment: [
                        "FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path,
                        "FIELDMERGE_JOURNAL": database.journalURL,
                    ])
                #expect(said.status == 0 && said.output.contains("database-denied"), "\(said)")
            }
        }
    }

    @Test("A refused edit of atomic: edit delays no other edit", .tags(.mariadb), .needsMariaDB)
    func missingGrantOfOneEdit() async throws {
        let database = try await Self.orders(.mariadb)
        try await RunningGateway.with(database, rules: Self.listRules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let parts = "\(database.name).parts"
                try await database.runAsOperator("REVOKE DELETE ON \(parts) FROM \(database.accountSQL)")
                let answer = try await client.post(
                    "/v1/push",
                    #"""
                    {"key":"k","atomic":"edit","edits":[
                      {"resource":"orders","id":1,"changeset":{"lines":[{"id":1,"old":{"what":"a"},"new":null}]}},
                      {"resource":"orders","id":2,"changeset":{"order":{"name":{"old":"two","new":"zwei"}}}}]}
                    """#)
                #expect(answer.status == 207, "\(answer.text)")
                #expect(
                    try answer.json()["results"]?.array.map { $0["status"]?.text } == ["failed", "merged"],
                    "\(answer.text)")
                #expect(try answer.json()["results"]?[0]?["problem"]?["code"]?.text == "database-denied")
                #expect(try await database.run("SELECT name FROM orders ORDER BY id;") == "one\nzwei\n")
            }
        }
    }

    @Test("An unreadable record fails only its edit of atomic: edit", arguments: TestEngine.allCases)
    func unreadableRootOfOneEdit(_ kind: TestEngine) async throws {
        try await UnreadableFixture.with(kind) { client, database in
            let edits = [(1, "one"), (3, "three"), (2, "two"), (3, "drei")].map { UnreadableFixture.rename($0, $1) }
            let results = try await Self.proveFinal(edits, at: [1, 3], code: "unreadable-column", client, database)
            #expect(results[1]["problem"]?["path"]?.text == "edits[1]", "\(results)")
            let names = try await database.run("SELECT name FROM customers WHERE id < 4 ORDER BY id;")
            #expect(names == "one\ntwo\nc3\n")
        }
    }

    @Test("An edit of atomic: edit that makes a list too long fails alone", arguments: TestEngine.allCases)
    func tooLongListOfOneEdit(_ kind: TestEngine) async throws {
        try await UnreadableFixture.with(kind) { client, database in
            // The database makes the keys in SQLite, and the client in MariaDB.
            let sign = kind == .sqlite ? -1 : 1
            func insert(_ orders: ClosedRange<Int>, of id: Int) -> String {
                let items = orders.map { #"{"id":\#(sign * $0),"old":null,"new":{"title":"o"}}"# }
                let list = items.joined(separator: ",")
                return #"{"resource":"customers","id":\#(id),"changeset":{"orders":[\#(list)]}}"#
            }
            let edits = [
                UnreadableFixture.rename(1, "one"), insert(801...803, of: 2), insert(811...813, of: 2),
                insert(821...822, of: 2), UnreadableFixture.rename(4, "four"),
            ]
            try await Self.proveFinal(edits, at: [2], code: "record-too-large", client, database)
            #expect(try await database.run("SELECT COUNT(*) FROM orders WHERE customer = 2;") == "5\n")
            #expect(try await database.run("SELECT name FROM customers WHERE id = 4;") == "four\n")
        }
    }

    /// Sends a push of `atomic: edit` twice, and expects that some edits fail finally and all others are merged.
    @discardableResult
    private static func proveFinal(
        _ edits: [String], at failed: Set<Int>, code: String, _ client: HTTPClient.Session, _ database: TestDatabase
    ) async throws -> [JSON] {
        let body = #"{"key":"k","atomic":"edit","edits":[\#(edits.joined(separator: ","))]}"#
        let answer = try await client.post("/v1/push", body)
        #expect(answer.status == 207, "\(answer.text)")
        #expect(try answer.json()["status"]?.text == "partial", "\(answer.text)")
        let results = try answer.json()["results"]?.array ?? []
        #expect(results.count == edits.count, "\(answer.text)")
        for (index, result) in results.enumerated() {
            #expect(result["status"]?.text == (failed.contains(index) ? "failed" : "merged"), "\(index): \(result)")
            guard failed.contains(index) else { continue }
            #expect(result["problem"]?["code"]?.text == code, "\(result)")
            #expect(result["problem"]?["retry"]?.bool == false, "\(result)")
        }
        #expect(try await client.post("/v1/push", body).text == answer.text)
        #expect(
            try await database.runOnJournal("SELECT reason FROM entries WHERE body IS NOT NULL AND reason IS NOT NULL;")
                == code + "\n")
        return results
    }

    @Test("A push whose records cannot be read is refused without them", .tags(.mariadb), .needsMariaDB)
    func unreadableRecord() async throws {
        let database = try await Self.orders(.mariadb)
        try await RunningGateway.with(database, rules: Self.listRules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let parts = "\(database.name).parts"
                try await database.runAsOperator("REVOKE SELECT ON \(parts) FROM \(database.accountSQL)")
                let answer = try await client.post(
                    "/v1/push",
                    Self.push(
                        "bad", "orders", #""id":1,"changeset":{"lines":[{"id":1,"old":{"what":"a"},"new":null}]}"#))
                #expect(answer.status == 422, "\(answer.text)")
                let result = try answer.json()["results"]?[0]
                #expect(result?["problem"]?["code"]?.text == "database-denied", "\(answer.text)")
                #expect(result?["record"]?.isNull == true, "\(answer.text)")
                #expect(
                    try await database.runOnJournal("SELECT COUNT(*) FROM entries WHERE body IS NOT NULL;") == "1\n")
            }
        }
    }

    @Test("A deletion through a view that joins tables is final", .tags(.mariadb), .needsMariaDB)
    func joinView() async throws {
        let database = try await TestDatabase(.mariadb, mariadb: VerbProbeTests.joined, sqlite: "")
        try await RunningGateway.with(database, rules: VerbProbeTests.joinRules, journal: .together) {
            gateway async throws in
            try await gateway.client { client async throws in
                let delete = Self.push("bad", "things", #""id":1,"changeset":{"thing":{"old":{"n":"a"},"new":null}}"#)
                let good = Self.push("good", "things", #""id":2,"changeset":{"thing":{"n":{"old":"b","new":"c"}}}"#)
                try await Self.proveFinal(delete, then: good, code: "database-denied", client, database)
                #expect(try await database.run("SELECT n FROM a ORDER BY id;") == "a\nc\n")
            }
        }
    }
}
