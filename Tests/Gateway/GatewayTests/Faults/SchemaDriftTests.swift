import Testing
import TestSupport

/// The schema changes while a gateway runs, without a notice.
@Suite(.timeLimit(.minutes(2))) struct SchemaDriftTests {
    private static let start = """
        CREATE TABLE counters (id INT PRIMARY KEY, n VARCHAR(40) NOT NULL);
        INSERT INTO counters VALUES (1, 'start'), (2, 'other');
        CREATE TABLE parts (id INT PRIMARY KEY, counter INT NOT NULL, name VARCHAR(40) NOT NULL);
        INSERT INTO parts VALUES (1, 1, 'a'), (2, 2, 'b');
        """
    private static let rules = [
        "counters.yaml": """
        resource: counters
        sections:
          c: {table: counters, groups: {n: n}}
          parts: {list: true, table: parts, parent: {counter: id}, groups: {name: name}}
        """
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (TestDatabase, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: start, sqlite: start)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { try await body(database, $0) }
        }
    }

    private static func expectSchemaChanged(_ answer: HTTPClient.Answer) throws {
        #expect(answer.status == 503, "\(answer.text)")
        #expect(try answer.json()["code"]?.text == "resource-unavailable", "\(answer.text)")
    }

    private static let edit = #"{"id":1,"changeset":{"c":{"n":{"old":"start","new":"x"}}}}"#
    private static let edits = #"""
        {"edits":[{"resource":"counters","id":1,"changeset":{"c":{"n":{"old":"start","new":"x"}}}},
          {"resource":"counters","id":2,"changeset":{"c":{"n":{"old":"other","new":"y"}}}}]}
        """#

    private static func expectUnreadable(_ answer: HTTPClient.Answer) throws {
        #expect(answer.status == 422, "\(answer.text)")
        #expect(answer.text.contains("urn:fieldmerge:problem:unreadable-"), "\(answer.text)")
        #expect(!answer.text.contains(#""retry":true"#), "\(answer.text)")
    }

    @Test("Two rows of one key are one unreadable record, and neither is written", arguments: TestEngine.allCases)
    func twoRows(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            try await database.run(
                """
                DROP TABLE counters; CREATE TABLE counters (id INT NOT NULL, n VARCHAR(40) NOT NULL);
                INSERT INTO counters VALUES (1, 'start'), (2, 'other');
                """)
            #expect(try await client.post("/v1/merge/counters", Self.edit).status == 200)
            try await database.run(
                "UPDATE counters SET n = 'start' WHERE id = 1; INSERT INTO counters VALUES (1, 'start');")
            for answer in [
                try await client.get("/v1/records/counters/1"),
                try await client.post("/v1/merge/counters", Self.edit), try await client.post("/v1/push", Self.edits),
                try await client.post(
                    "/v1/merge/counters", #"{"id":1,"changeset":{"c":{"old":{"n":"start"},"new":null}}}"#),
            ] { try Self.expectUnreadable(answer) }
            let page = try await client.get("/v1/records/counters").json()["records"]
            #expect(page?[0]?["problem"]?["code"]?.text == "unreadable-record")
            #expect(page?[1]?["c"]?["n"]?.text == "other")
            #expect(
                try await database.run("SELECT * FROM counters ORDER BY id;") == "1\tstart\n1\tstart\n2\tother\n")
            #expect(try await client.get("/v1/records/counters/2").status == 200)
        }
    }

    @Test("Two items of one key are not written", arguments: TestEngine.allCases)
    func twoItems(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            try await database.run(
                """
                DROP TABLE parts; CREATE TABLE parts (id INT NOT NULL, counter INT NOT NULL, name VARCHAR(40) NOT NULL);
                INSERT INTO parts VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 2, 'c'), (2, 2, 'd');
                """)
            let body = #"{"id":1,"changeset":{"parts":[{"id":1,"old":{"name":"a"},"new":{"name":"z"}}]}}"#
            try Self.expectUnreadable(try await client.post("/v1/merge/counters", body))
            try Self.expectUnreadable(try await client.get("/v1/records/counters/2"))
            #expect(try await database.run("SELECT COUNT(*) FROM parts WHERE name = 'z';") == "0\n")
        }
    }

    /// Its value is the database's from then on.
    @Test("A column that becomes generated is detected", arguments: TestEngine.allCases)
    func generated(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            let generated = kind == .mariadb ? "CONCAT('g', id)" : "'g' || id"
            try await database.run(
                """
                DROP TABLE counters;
                CREATE TABLE counters (id INT PRIMARY KEY, n VARCHAR(40) GENERATED ALWAYS AS (\(generated)) STORED);
                INSERT INTO counters (id) VALUES (1), (2);
                """)
            let body = #"{"id":1,"changeset":{"c":{"n":{"old":"g1","new":"x"}}}}"#
            try Self.expectSchemaChanged(try await client.post("/v1/merge/counters", body))
            let create = #"{"id":3,"changeset":{"c":{"old":null,"new":{"n":"x"}}}}"#
            let answer = try await client.post("/v1/merge/counters", create)
            // The rules may already have been read again, with the new column.
            #expect([503, 400].contains(answer.status), "\(answer.text)")
            #expect(try await database.run("SELECT COUNT(*) FROM counters;") == "2\n")
        }
    }
}
