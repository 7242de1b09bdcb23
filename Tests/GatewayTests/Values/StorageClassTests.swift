import Testing
import TestSupport

/// A value that is not of its column's type is unreadable, or comes back exactly as it is stored.
@Suite(.timeLimit(.minutes(3))) struct StorageClassTests {
    private static let sql = """
        CREATE TABLE things (id INTEGER PRIMARY KEY, t TEXT, b BLOB, n INT, d DATETIME, s, f, note TEXT, rest TEXT);
        INSERT INTO things (id, note, rest) VALUES (1, 'a', 'r'), (2, 'a', 'r'), (3, 'a', 'r'), (4, 'a', 'r'), (5, 'a', 'r'),
          (6, 'a', 'r'), (7, 'a', 'r'), (8, 'a', 'r'), (9, 'a', 'r'), (10, 'a', 'r'), (11, 'a', 'r');
        UPDATE things SET t = x'6869' WHERE id = 1;
        UPDATE things SET b = 'aGk=' WHERE id = 2;
        UPDATE things SET n = 'abc' WHERE id = 3;
        UPDATE things SET d = 1700000000 WHERE id = 4;
        UPDATE things SET n = x'6869' WHERE id = 5;
        UPDATE things SET s = 5 WHERE id = 6;
        UPDATE things SET s = 9007199254740993 WHERE id = 7;
        UPDATE things SET s = 5.0 WHERE id = 8;
        UPDATE things SET s = 1.5 WHERE id = 9;
        UPDATE things SET f = 5 WHERE id = 10;
        UPDATE things SET d = '2026-02-30' WHERE id = 11;
        """
    private static let rules = [
        "things.yaml": """
        resource: things
        sections:
          thing:
            table: things
            groups:
              all: {fields: {t: t, b: b, n: n, d: d, s: {column: s, type: text}, f: {column: f, type: double}, note: note}}
              rest: rest
        """
    ]
    private static let unreadable: Set = [1, 2, 5, 7, 8, 10]
    /// What is shown of the others.
    private static let shown = [3: ("n", #""abc""#), 4: ("d", "1700000000"), 6: ("s", "5"), 9: ("s", "1.5"), 11: ("d", #""2026-02-30""#)]

    private static func stored(_ database: TestDatabase) async throws -> String {
        try await database.run(
            "SELECT id, quote(t), quote(b), quote(n), quote(d), typeof(s), quote(s), typeof(f), quote(f) FROM things "
                + "ORDER BY id;")
    }

    private static func group(_ id: Int, _ note: String, but field: String = "", _ value: String = "") -> String {
        let held = shown[id] ?? ("", "")
        let members = ["t", "b", "n", "d", "s", "f"].map { name in
            "\"\(name)\":" + (name == field ? value : name == held.0 ? held.1 : "null")
        }
        return "{" + members.joined(separator: ",") + ",\"note\":\"\(note)\"}"
    }

    private static func with(
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    @Test("A value that would not come back as it is stored is unreadable") func reading() async throws {
        try await Self.with { client, _ in
            for id in 1...11 {
                let answer = try await client.get("/v1/records/things/\(id)")
                #expect(answer.status == (Self.unreadable.contains(id) ? 422 : 200), "\(id): \(answer.text)")
                guard let (field, value) = Self.shown[id] else { continue }
                #expect(try answer.json()["thing"]?["all"]?[field]?.description == value, "\(answer.text)")
            }
        }
    }

    @Test("No echo changes a stored value") func echoes() async throws {
        try await Self.with { client, database in
            let before = try await Self.stored(database)
            for id in Self.shown.keys.sorted() {
                let edit =
                    #"{"id":\#(id),"changeset":{"thing":{"all":{"old":\#(Self.group(id, "stale")),"new":\#(Self.group(id, "b"))}}}}"#
                let answer = try await client.post("/v1/merge/things", edit)
                #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "client-won", "\(answer.text)")
            }
            for id in Self.unreadable.sorted() {
                let rest = #"{"id":\#(id),"changeset":{"thing":{"rest":{"old":"r","new":"x"}}}}"#
                let answer = try await client.post("/v1/merge/things", rest)
                #expect(answer.status == 200 || answer.status == 422, "\(answer.text)")
            }
            #expect(try await Self.stored(database) == before)
        }
    }

    @Test("Undo brings back the stored value") func undo() async throws {
        try await Self.with { client, database in
            let before = try await Self.stored(database)
            for (entry, id) in Self.shown.keys.sorted().enumerated() {
                let field = Self.shown[id]?.0 ?? ""
                let edit =
                    #"{"id":\#(id),"changeset":{"thing":{"all":{"old":\#(Self.group(id, "a")),"new":\#(Self.group(id, "a", but: field, "null"))}}}}"#
                let answer = try await client.post("/v1/merge/things", edit)
                #expect(answer.status == 200, "\(answer.text)")
                let undone = try await client.post("/v1/journal/\(entry * 2 + 1)/undo", "{}")
                #expect(undone.status == 200, "\(undone.text)")
            }
            #expect(try await Self.stored(database) == before)
            let entries = Self.shown.count * 2
            for (entry, id) in Self.shown.keys.sorted().enumerated() {
                let deletion = #"{"id":\#(id),"changeset":{"thing":{"old":{"rest":"r"},"new":null}}}"#
                let answer = try await client.post("/v1/merge/things", deletion)
                #expect(answer.status == 200, "\(answer.text)")
                let undone = try await client.post("/v1/journal/\(entries + entry * 2 + 1)/undo", "{}")
                #expect(undone.status == 200, "\(undone.text)")
            }
            #expect(try await Self.stored(database) == before)
        }
    }

    // MARK: JSON

    private static let documents = """
        CREATE TABLE documents (id INTEGER PRIMARY KEY, body TEXT, name VARCHAR(20));
        INSERT INTO documents VALUES (1, 'no json', 'a'), (2, '', 'a'), (3, ' {"a": 1}', 'a');
        """
    private static let documentRules = [
        "documents.yaml": """
        resource: documents
        sections:
          document: {table: documents, groups: {body: {column: body, type: json}, name: name}}
        """
    ]

    @Test("A text that is no JSON is unreadable and stays as it is", arguments: TestEngine.allCases)
    func noJSON(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.documents, sqlite: Self.documents)
        try await RunningGateway.with(database, rules: Self.documentRules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let page = try await client.get("/v1/records/documents").json()
                let problems = page["records"]?.array.map { $0["problem"]?["code"]?.text }
                #expect(problems == ["unreadable-record", "unreadable-record", nil], "\(page)")
                for id in 1...3 {
                    let edit =
                        #"{"id":\#(id),"changeset":{"document":{"body":{"old":"no json","new":{"b":2}},"name":{"old":"a","new":"b"}}}}"#
                    let answer = try await client.post("/v1/merge/documents", edit)
                    #expect(answer.status == (id == 3 ? 200 : 422), "\(id): \(answer.text)")
                }
                let held = try await database.run("SELECT body FROM documents WHERE id < 3 ORDER BY id;")
                #expect(held == "no json\n\n")
            }
        }
    }
}
