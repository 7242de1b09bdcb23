import Testing
import TestSupport

/// SQLite keeps dates as programs spell them, and a key is that spelling.
@Suite(.timeLimit(.minutes(2))) struct DateKeyTests {
    private static let spellings = [
        "2026-11-20 10:00:00", "2026-11-20T10:00:00", "2026-11-20T10:00:00Z", "2026-11-20 10:00:00Z",
        "2026-11-20T10:00:00.250", "2026-11-21", "2026-11-22T00:00",
    ]

    private static func sql(_ type: String) -> String {
        let rows = spellings.enumerated().map { "('\($1)', \($0))" }.joined(separator: ", ")
        let items = spellings.enumerated().map { "(\($0), '\($1)', 'a')" }.joined(separator: ", ")
        return """
            CREATE TABLE visits (at \(type) PRIMARY KEY, n INTEGER NOT NULL);
            INSERT INTO visits VALUES \(rows);
            CREATE TABLE notes (id INTEGER PRIMARY KEY, visit \(type) REFERENCES visits (at), text VARCHAR(20));
            INSERT INTO notes VALUES \(items);
            """
    }

    private static let rules = [
        "visits.yaml": """
        resource: visits
        sections:
          visit: {table: visits, groups: {n: n}}
          notes: {list: true, table: notes, parent: {visit: at}, groups: {text: text}}
        """,
        "notes.yaml": "resource: notes\nsections:\n  note: {table: notes, groups: {visit: visit, text: text}}\n",
    ]

    @Test(
        "A new key is spelled as the database stores it",
        arguments: [
            ("DATE", "2026-12-24", ["2026-12-24 10:00:00", "2026-02-31", "24.12.2026", "noon", ""]),
            ("DATETIME", "2026-12-24 10:00:00", ["2026-12-24T10:00:00", "2026-12-24", "2026-12-24 10:00:00Z", "noon"]),
            ("DATETIME(3)", "2026-12-24 10:00:00.250", ["2026-12-24 10:00:00", "2026-12-24 10:00:00.25"]),
            ("TIMESTAMP", "2026-12-24 10:00:00", ["2026-12-24T10:00:00Z", "2026-12-24 10:00:00Z", "noon"]),
            ("TIME", "10:00:00", ["10:00", "25 o'clock"]),
        ])
    func newKeys(_ example: (type: String, right: String, wrong: [String])) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.sql(example.type))
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                func create(_ key: String) async throws -> HTTPClient.Answer {
                    try await client.post(
                        "/v1/merge/visits", #"{"id":"\#(key)","changeset":{"visit":{"old":null,"new":{"n":50}}}}"#)
                }
                for key in example.wrong {
                    let refused = try await create(key)
                    #expect(refused.status == 400, "\(key): \(refused.text)")
                    #expect(try refused.json()["code"]?.text == "malformed-id", "\(key): \(refused.text)")
                    #expect(try refused.json()["path"]?.text == "id", "\(key): \(refused.text)")
                }
                #expect(try await create(example.right).text.contains(#""inserted""#))
                // An existing row keeps its spelling.
                let existing = try await create("2026-11-20T10:00:00Z")
                #expect(existing.status == 200 && existing.text.contains(#""client-won""#), "\(existing.text)")
                // An undo restores a row under any spelling.
                let deleted = try await client.post(
                    "/v1/merge/visits", #"{"id":"2026-11-22T00:00","changeset":{"visit":{"old":{"n":6},"new":null}}}"#)
                #expect(deleted.status == 200, "\(deleted.text)")
                let number = try await client.get("/v1/journal").json()["entries"]?.array.last?["number"]?.int ?? 0
                let undo = try await client.post("/v1/journal/\(number)/undo", "{}")
                #expect(undo.status == 200 && undo.text.contains(#""inserted""#), "\(undo.text)")
            }
        }
    }

    @Test(
        "A key is found, edited, paged and sent as it is stored", arguments: ["DATETIME", "TIMESTAMP", "DATE", "TIME"])
    func keys(_ type: String) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.sql(type))
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                var paged: [String] = []
                var next = ""
                repeat {
                    let page = try await client.get(
                        "/v1/records/visits?limit=1" + (next.isEmpty ? "" : "&after=\(next)"))
                    #expect(page.status == 200, "\(page.text)")
                    paged += try page.json()["records"]?.array.compactMap { $0["id"]?.text } ?? []
                    next = try page.json()["next"]?.text ?? ""
                } while !next.isEmpty && paged.count <= Self.spellings.count
                #expect(paged == Self.spellings.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
                for (n, key) in Self.spellings.enumerated() {
                    let address = "/v1/records/visits/" + key.replacing(" ", with: "%20").replacing(":", with: "%3A")
                    let read = try await client.get(address)
                    #expect(try read.json()["visit"]?["n"]?.int == n, "\(key): \(read.text)")
                    #expect(try read.json()["notes"]?[0]?["id"]?.int == n, "\(key): \(read.text)")
                    let edited = try await client.post(
                        "/v1/merge/visits",
                        #"{"id":"\#(key)","changeset":{"visit":{"n":{"old":\#(n),"new":\#(n + 100)}}}}"#)
                    #expect(try edited.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(key): \(edited.text)")
                    let note = try await client.get("/v1/records/notes/\(n)").json()["note"]
                    #expect(note?["visit"]?.text == key)
                }
                let snapshot = try await client.get("/v1/snapshot?resources=visits")
                #expect(snapshot.text.split(separator: "\n").filter { $0.contains("\"record\"") }.count == 7)
                #expect(snapshot.text.contains("\"end\""))
                let deleted = try await client.post(
                    "/v1/merge/visits",
                    #"{"id":"2026-11-20T10:00:00","changeset":{"visit":{"old":{"n":101},"new":null}}}"#)
                #expect(deleted.status == 200, "\(deleted.text)")
                #expect(try await database.run("SELECT COUNT(*) FROM visits;") == "6\n")
                #expect(try await database.run("SELECT COUNT(*) FROM notes;") == "6\n")
            }
        }
    }
}
