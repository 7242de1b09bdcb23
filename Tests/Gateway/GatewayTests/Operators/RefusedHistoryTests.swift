import TestSupport
import Testing

/// Answers to an operator: why an edit was not applied, and who overwrote a value.
@Suite struct RefusedHistoryTests {
    /// A push of two edits.
    ///
    /// The second uses the email of person 1.
    private static let refused =
        #"{"key":"bad","edits":[{"resource":"people","id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}},"#
        + #"{"resource":"people","id":2,"changeset":{"person":{"email":{"old":"b@x","new":"a@x"}}}}]}"#

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client in try await body(gateway, client) }
        }
    }

    private static func entries(_ client: HTTPClient.Session, _ query: String) async throws -> [JSON] {
        let page = try await client.get("/v1/journal?\(query)")
        #expect(page.status == 200, "\(page.text)")
        return try page.json()["entries"]?.array ?? []
    }

    @Test(
        "A refused push is in the history of each record that it names, with the reason", arguments: TestEngine.allCases
    )
    func history(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, client in
            let push = try await client.post("/v1/push", Self.refused, ["x-request-id": "call-7"])
            #expect(try push.json()["status"]?.text == "failed", "\(push.text)")
            let first = try await Self.entries(client, "resource=people&id=1")
            let second = try await Self.entries(client, "resource=people&id=2")
            #expect(first.map { $0["problem"]?["code"]?.text } == ["rolled-back"], "\(first)")
            #expect(second.map { $0["problem"]?["code"]?.text } == ["unique"], "\(second)")
            #expect(second.first?["status"]?.text == "failed")
            #expect(second.first?["problem"]?["fields"] == (try JSON(#"["email"]"#)))
            #expect((first + second).allSatisfy { $0["request"]?.text == "call-7" })
            let undo = try await client.post("/v1/journal/\(second.first?["number"]?.int ?? 0)/undo", "{}")
            #expect(try undo.json()["code"]?.text == "nothing-to-undo", "\(undo.text)")
        }
    }

    @Test("Refused pushes are found by record, code, device and time", arguments: TestEngine.allCases)
    func filters(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, client in
            _ = try await client.post("/v1/push", Self.refused, ["x-device-id": "till 1"])
            let before = "2026-01-01"
            let cases: [(query: String, count: Int)] = [
                ("refused=true", 1), ("refused=true&resource=people&id=1", 1),
                ("refused=true&resource=people&id=2", 1), ("refused=true&resource=people&id=3", 0),
                ("refused=true&device=till+1", 1), ("refused=true&device=till", 0),
                ("refused=true&code=unique", 1), ("refused=true&code=check", 0),
                ("refused=true&since=\(before)", 1), ("refused=true&until=\(before)", 0),
            ]
            for (query, count) in cases {
                #expect(try await Self.entries(client, query).count == count, "\(query)")
            }
        }
    }

    @Test("Entries are found by group, by field and by section", arguments: TestEngine.allCases)
    func groups(_ kind: TestEngine) async throws {
        try await Self.with(kind) { _, client in
            let changes = [
                #"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#,
                #"{"person":{"points":{"old":10,"new":15}}}"#,
                #"{"items":[{"id":1,"old":null,"new":null}]}"#,
            ]
            for change in changes.prefix(2) { _ = try await client.post("/v1/merge/people", JournalTests.edit(change)) }
            let cases: [(query: String, numbers: [Int])] = [
                ("group=person.name", [1]), ("group=person.points", [2]), ("group=person", [1, 2]),
                ("group=items", []), ("group=person.email", []), ("group=person&limit=1", [1]),
                ("resource=people&field=person.points", [2]),
            ]
            for (query, numbers) in cases {
                #expect(try await Self.entries(client, query).map { $0["number"]?.int } == numbers, "\(query)")
            }
            for query in ["field=person.points", "resource=people&field=person.pints", "group=.", "group=a&field=b.c"] {
                let page = try await client.get("/v1/journal?\(query)")
                #expect(page.status == 400, "\(query): \(page.text)")
            }
        }
    }

    @Test(
        "A forced undo reverts a value that has changed again, and its preview shows it",
        arguments: TestEngine.allCases)
    func forcedUndo(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/people", JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#))
                try await database.run("UPDATE people SET name = 'Annika' WHERE id = 1;")
                let kept = try await client.post("/v1/journal/1/undo?preview=true", "{}")
                #expect(try kept.json()["outcomes"]?[0]?["outcome"]?.text == "server-won", "\(kept.text)")
                let preview = try await client.post("/v1/journal/1/undo?preview=true", #"{"force":true}"#)
                let outcome = try preview.json()["outcomes"]?[0]
                #expect(outcome?["outcome"]?.text == "applied", "\(preview.text)")
                #expect(try await database.run("SELECT name FROM people WHERE id = 1;") == "Annika\n")
                let undo = try await client.post("/v1/journal/1/undo", #"{"force":true}"#)
                #expect(undo.status == 200, "\(undo.text)")
                #expect(try await database.run("SELECT name FROM people WHERE id = 1;") == "Ann\n")
                let wrong = try await client.post("/v1/journal/1/undo", #"{"force":"yes"}"#)
                #expect(wrong.status == 400, "\(wrong.text)")
                // The undo can be undone: the replaced value returns.
                let back = try await client.post("/v1/journal/2/undo", "{}")
                #expect(back.status == 200, "\(back.text)")
                #expect(try await database.run("SELECT name FROM people WHERE id = 1;") == "Annika\n")
            }
        }
    }

    @Test("“journal show” names path, constraint and rule of a refused push", arguments: TestEngine.allCases)
    func show(_ kind: TestEngine) async throws {
        let tables = """
            CREATE TABLE jars (id INT PRIMARY KEY, n INT, CONSTRAINT small CHECK (n < 100));
            INSERT INTO jars VALUES (1, 5);
            """
        let database = try await TestDatabase(kind, mariadb: tables, sqlite: tables)
        let rules = [
            "jars.yaml": """
            resource: jars
            sections:
              jar:
                table: jars
                checks: [{name: positive, sql: n > 0, fields: [n]}]
                groups: {n: {column: n, on-conflict: reject}}
            """
        ]
        try await database.initJournal()
        let gateway = try await GatewayProcess(database, rules: rules)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            for (old, new) in [(5, 0), (5, 100), (4, 6)] {
                let body = #"{"id":1,"changeset":{"jar":{"n":{"old":\#(old),"new":\#(new)}}}}"#
                #expect(try await client.post("/v1/merge/jars", body).status >= 400)
            }
        }
        #expect(gateway.log.contains(#"cause="check “positive” of jars.yaml:5""#), "\(gateway.log)")
        let settings = ["FIELDMERGE_DATABASE": database.url, "FIELDMERGE_JOURNAL": database.journalURL]
        for (number, lines) in [
            (1, ["path      changeset.jar", "constraint  positive", "rule      jars.yaml:5"]),
            (2, ["constraint  small"]), (3, ["jar.n: rejected (a conflict, by jars.yaml:6)"]),
        ] {
            let said = try await Shell.capture(
                [GatewayProcess.program, "journal", "show", "\(number)"], environment: settings)
            for line in lines {
                let name = line.prefix { $0 != " " }
                let value = line.drop { $0 != " " }.drop { $0 == " " }
                let found = said.output.split(separator: "\n").contains {
                    $0.hasPrefix(name) && $0.hasSuffix(value)
                }
                #expect(found, "\(line): \(said)")
            }
        }
    }
}
