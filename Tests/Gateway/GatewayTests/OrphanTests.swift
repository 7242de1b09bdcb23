import Gateway
import MergeService
import Testing
import TestSupport

/// Rows of a list with a deleted record, in a database without foreign keys.
@Suite struct OrphanTests {
    private static let tables = [
        "CREATE TABLE docs (id INTEGER PRIMARY KEY, name VARCHAR(20))",
        "CREATE TABLE doc_lines (id INTEGER PRIMARY KEY, doc INTEGER, what VARCHAR(20))",
    ]
    private static let rules = [
        "docs.yaml": """
        resource: docs
        sections:
          doc: {table: docs, groups: {name: name}}
          lines: {table: doc_lines, list: true, parent: {doc: id}, groups: {what: what}}
        """
    ]

    private static func lines(_ doc: Int, from first: Int, count: Int) -> String {
        "INSERT INTO doc_lines VALUES "
            + (first..<first + count).map { "(\($0), \(doc), 'w')" }.joined(separator: ", ") + ";"
    }

    /// Orphans do not count for the limit of a record, and no request finds them.
    @Test("Orphans belong to no record", arguments: TestEngine.allCases)
    func unreachable(_ kind: TestEngine) async throws {
        let rows =
            "INSERT INTO docs VALUES (51, 'a'), (52, 'b');" + Self.lines(51, from: 900, count: 2)
            + Self.lines(52, from: 950, count: 21) + Self.lines(8, from: 200, count: 30)
            + Self.lines(9, from: 300, count: 30)
        let database = try await TestDatabase(
            kind, mariadb: Self.tables.map { $0 + " ENGINE=InnoDB;" }.joined() + rows,
            sqlite: Self.tables.map { $0 + ";" }.joined() + rows)
        try await RunningGateway.with(
            database, rules: Self.rules, journal: .together, configure: { $0.merge.rowsPerRecord = 20 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/records/docs/51").json()["lines"]?.array.count == 2)
                #expect(try await client.get("/v1/records/docs/52").json()["code"]?.text == "unreadable-record")
                #expect(try await client.get("/v1/records/docs/9").status == 404)
                let edits = [(51, "a"), (8, "x"), (9, "x")].map { id, old in
                    #"{"resource":"docs","id":\#(id),"changeset":{"doc":{"name":{"old":"\#(old)","new":"z"}}}}"#
                }
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
                #expect(answer.status == 200, "\(answer.text)")
                let results = try #require(try answer.json()["results"]).array
                #expect(results.map { $0["outcomes"]?[0]?["outcome"]?.text } == ["applied", "missing", "missing"])
                #expect(results[0]["record"]?["lines"]?.array.count == 2)
                #expect(results[1]["record"]?.isNull == true && results[2]["record"]?.isNull == true)
            }
        }
    }

    @Test("An orphan with an unreadable value affects no record", arguments: TestEngine.allCases)
    func unreadable(_ kind: TestEngine) async throws {
        let rows = "INSERT INTO docs VALUES (51, 'a'), (52, 'b'); INSERT INTO doc_lines VALUES (1, 51, 'w');"
        let tables = Self.tables.map { $0.replacing("what VARCHAR(20)", with: "what DATE") }
        let database = try await TestDatabase(
            kind,
            mariadb: tables.map { $0 + " ENGINE=InnoDB;" }.joined() + rows.replacing("'w'", with: "'2026-01-02'")
                + "SET sql_mode = 'ALLOW_INVALID_DATES';"
                + "INSERT INTO doc_lines VALUES (2, 9, '2021-02-31'), (3, 52, '2021-02-31');",
            sqlite: Self.tables.map { $0 + ";" }.joined() + rows
                + "INSERT INTO doc_lines VALUES (2, 9, CAST(x'ff' AS TEXT)), (3, 52, CAST(x'ff' AS TEXT));")
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/records/docs/51").status == 200)
                #expect(try await client.get("/v1/records/docs/9").status == 404)
                #expect(try await client.get("/v1/records/docs/52").json()["code"]?.text == "unreadable-record")
                let edits = [(51, "a"), (9, "x")].map { id, old in
                    #"{"resource":"docs","id":\#(id),"changeset":{"doc":{"name":{"old":"\#(old)","new":"z"}}}}"#
                }
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
                let results = try answer.json()["results"]?.array ?? []
                #expect(
                    results.map { $0["outcomes"]?[0]?["outcome"]?.text } == ["applied", "missing"], "\(answer.text)")
            }
        }
    }
}
