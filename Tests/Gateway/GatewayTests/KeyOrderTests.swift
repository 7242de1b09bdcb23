import Testing
import TestSupport

/// The gateway checks the envelope first, then the key, then everything that needs the rules.
@Suite struct KeyOrderTests {
    private static let sql = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20), points INTEGER);
        INSERT INTO people VALUES (1, 'Ann', 5), (2, 'Bob', 5);
        """
    private static let rules = [
        "people.yaml": """
        resource: people
        sections:
          person: {table: people, groups: {name: {column: name, on-conflict: reject}, points: {column: points, merge: add}}}
        """
    ]

    private static let first =
        #"{"key":"k","edits":[{"resource":"people","id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Eve"}}}}]}"#

    private static func edits(_ edit: String, _ more: String = "") -> String {
        #"{"key":"k","edits":[\#(edit)]\#(more)}"#
    }

    private static func changes(_ changeset: String, id: String = "1") -> String {
        edits(#"{"resource":"people","id":\#(id),"changeset":\#(changeset)}"#)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let body: String
        let code: String

        var testDescription: String { "\(code) \(body.prefix(200))" }
    }

    /// Bodies under the key of a push that was merged.
    private static let cases = [
        // Errors that need no rules come before the key.
        Case(body: #"{"key":"k","edits":[}"#, code: "400 not-json"),
        Case(body: #"{"key":"k"}"#, code: "400 invalid"),
        Case(body: #"{"key":"k","edits":7}"#, code: "400 invalid"),
        Case(body: #"{"key":"k","edits":[7]}"#, code: "400 invalid"),
        Case(body: #"{"key":"k","edits":[{"resource":"people","id":1}]}"#, code: "400 invalid"),
        Case(body: #"{"key":"k","edits":[{"id":1,"changeset":{}}]}"#, code: "400 invalid"),
        Case(body: #"{"key":"k","edits":[{"resource":7,"id":1,"changeset":{}}]}"#, code: "400 invalid"),
        Case(body: #"{"key":"k","edits":[{"resource":"people","id":1,"changeset":7}]}"#, code: "400 invalid"),
        Case(body: edits(#"{"resource":"people","id":1,"changeset":{},"more":1}"#), code: "400 unknown-member"),
        Case(body: edits("", #","extra":1"#), code: "400 unknown-member"),
        Case(body: edits("", #","atomic":"row""#), code: "400 invalid"),
        Case(body: edits("", #","rules":7"#), code: "400 invalid"),
        // Errors that need the rules come after the key.
        Case(body: edits("", #","rules":"other""#), code: "422 key-reused"),
        Case(body: edits(#"{"resource":"nobody","id":1,"changeset":{}}"#), code: "422 key-reused"),
        Case(body: changes(#"{"nothing":{}}"#), code: "422 key-reused"),
        Case(body: changes(#"{"person":{"nothing":{"old":1,"new":2}}}"#), code: "422 key-reused"),
        Case(body: changes(#"{"person":{"points":{"old":1,"new":"x"}}}"#), code: "422 key-reused"),
        Case(body: changes(#"{"person":{"points":{"old":1,"new":2}}}"#, id: "\"tmp:x\""), code: "422 key-reused"),
        Case(body: changes(#"{"person":{"name":{"old":"x","new":"y"}}}"#), code: "422 key-reused"),
        Case(body: changes(#"{"person":{"points":{"old":1,"new":2}}}"#), code: "422 key-reused"),
        Case(body: changes("{}"), code: "422 key-reused"),
        Case(body: first, code: "200 nil"),
    ]

    private static func code(_ answer: HTTPClient.Answer) throws -> String {
        let code = try answer.json()["code"]?.text
        return "\(answer.status) \(code == "duplicate-member" ? "not-json" : code ?? "nil")"
    }

    @Test(
        "The key is checked after the envelope and before the rules", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func order(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        try await RunningGateway.with(database, rules: Self.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.post("/v1/push", Self.first).status == 200)
                for test in Self.cases {
                    let answer = try await client.post("/v1/push", test.body)
                    let code = try Self.code(answer)
                    // The gateway may choose the codes of malformed bodies.
                    let isSame =
                        test.code.hasPrefix("400") ? code.hasPrefix("400") && !code.contains("key") : code == test.code
                    #expect(isSame, "\(test.testDescription): \(answer.text)")
                }
                // The key in the header, at another address.
                let other = try await client.send(
                    .post, "/v1/merge/people", ["Idempotency-Key": "k", "Content-Type": "application/json"],
                    Array(#"{"id":1,"changeset":{"nothing":{}}}"#.utf8))
                #expect(try Self.code(other) == "422 key-reused", "\(other.text)")
            }
            #expect(try await database.run("SELECT name, points FROM people ORDER BY id;") == "Eve\t5\nBob\t5\n")
        }
    }

    /// A request without a result does not use a key up.
    @Test("A fault does not store its key")
    func faults() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                for body in [Self.changes(#"{"nothing":{}}"#), Self.changes(#"{"person":{"name":{"old":1,"new":2}}}"#)]
                {
                    #expect(try await client.post("/v1/push", body).status == 400)
                }
                #expect(try await client.post("/v1/push", Self.first).status == 200)
            }
        }
    }

    // MARK: Undo takes effect once

    @Test("An entry is undone once", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func undoOnce(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        try await RunningGateway.with(database, rules: Self.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                let body = #"{"id":2,"changeset":{"person":{"points":{"old":5,"new":8}}}}"#
                #expect(try await client.post("/v1/merge/people", body).status == 200)
                let preview = try await client.post("/v1/journal/1/undo?preview=true", "{}")
                #expect(preview.status == 200)
                // Many at once, and one after the other.
                let together = try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try await gateway.client { client async throws in
                                var answer: HTTPClient.Answer
                                // On a slow machine the first undo may last longer than the others wait.
                                repeat {
                                    answer = try await client.post("/v1/journal/1/undo", "{}")
                                } while answer.text.contains("in-progress")
                                return answer
                            }
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let later = try await client.post("/v1/journal/1/undo", "{}")
                let answers = together + [later]
                #expect(answers.allSatisfy { $0.status == 200 && $0.body == later.body }, "\(answers.map(\.text))")
                #expect(answers.count { $0.headers["idempotent-replayed"] == nil } == 1)
                #expect(try await database.run("SELECT points FROM people WHERE id = 2;") == "5\n")
                // A key that a client chose does not name an undo.
                let own = try await client.post(
                    "/v1/push", #"{"key":"undo:1","edits":[]}"#)
                #expect(own.status == 200 && own.headers["idempotent-replayed"] == nil)
                let part = try await client.post("/v1/journal/1/undo", #"{"groups":["person.points"]}"#)
                #expect(part.status == 422 && part.text.contains("nothing-to-undo"), "\(part.text)")
                let entry = try await client.get("/v1/journal/2").json()
                #expect(entry["key"]?.text == "undo:1")
            }
        }
    }

    /// An undo that was refused has had no effect, so it may be tried again.
    @Test("A refused undo can be repeated", arguments: TestEngine.allCases)
    func refusedUndo(_ kind: TestEngine) async throws {
        let sql = Self.sql + "CREATE UNIQUE INDEX by_name ON people (name);"
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.post("/v1/push", Self.first).status == 200)
                try await database.run("UPDATE people SET name = 'Ann' WHERE id = 2;")
                let refused = try await client.post("/v1/journal/1/undo", "{}")
                #expect(refused.status == 422, "\(refused.text)")
                try await database.run("UPDATE people SET name = 'Bob' WHERE id = 2;")
                let again = try await client.post("/v1/journal/1/undo", "{}")
                #expect(again.status == 200 && again.headers["idempotent-replayed"] == nil, "\(again.text)")
                #expect(try await database.run("SELECT name FROM people WHERE id = 1;") == "Ann\n")
            }
        }
    }
}
