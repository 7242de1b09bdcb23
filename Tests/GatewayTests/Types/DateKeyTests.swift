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
