import MergeService
import Operations
import RecordStore
import Testing
import TestSupport

/// Pushes that were built for a history that has ended, or whose keys may be gone.
@Suite(.timeLimit(.minutes(3))) struct HistoryTests {
    private static let start = """
        CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO counters VALUES (1, 8), (2, 5);
        CREATE TABLE notes (id INTEGER PRIMARY KEY AUTO_INCREMENT, text VARCHAR(40), friend INT);
        """
    private static let rules = [
        "counters.yaml":
            "resource: counters\nsections:\n  c: {table: counters, groups: {n: {column: n, merge: add}}}\n",
        "notes.yaml":
            "resource: notes\nsections:\n  n: {table: notes, groups: {text: text, friend: {column: friend, references: notes}}}\n",
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (TestDatabase, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: start, sqlite: start.replacing("AUTO_INCREMENT", with: "AUTOINCREMENT"))
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body(database, $0) }
        }
    }

    private static func push(_ key: String, _ members: String, old: Int = 8, new: Int = 5) -> String {
        #"{"key":"\#(key)",\#(members)"edits":[{"resource":"counters","id":1,"changeset":{"c":{"n":{"old":\#(old),"new":\#(new)}}}}]}"#
    }

    private static func beginNewFeed(_ database: TestDatabase) async throws {
        let engine = try database.engine(journal: true)
        let schema = database.kind == .sqlite ? JournalTables.attachedName : database.journalName
        _ = try await JournalOpener(engine: engine, schema: schema).open().beginNewFeed()
        await engine.close()
    }

    /// Has the gateway read the feed again.
    private static func look(_ client: HTTPClient.Session) async throws { _ = try await client.post("/v1/sync", "{}") }

    private static func code(_ answer: HTTPClient.Answer) throws -> String? {
        let body = try answer.json()
        return body["code"]?.text ?? body["results"]?[0]?["problem"]?["code"]?.text
    }

    @Test("A push of another history is history-changed if it contains a base", arguments: TestEngine.allCases)
    func historyChanged(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            let feed = try #require(try await client.get("/v1/changes").json()["feed"]?.text)
            let before = try await client.post("/v1/push", Self.push("a", #""feed":"\#(feed)","#))
            #expect(before.status == 200, "\(before.text)")
            try await Self.beginNewFeed(database)
            try await Self.look(client)
            let late = try await client.post("/v1/push", Self.push("b", #""feed":"\#(feed)","#, old: 5, new: 4))
            #expect(late.status == 409 && late.text.contains(#""retry":false"#), "\(late.text)")
            #expect(try Self.code(late) == "history-changed")
            // A known key is answered first. A problem is not stored under its key.
            #expect(try await client.post("/v1/push", Self.push("a", #""feed":"\#(feed)","#)).text == before.text)
            let now = try #require(try await client.get("/v1/changes").json()["feed"]?.text)
            #expect(now != feed)
            let again = try await client.post("/v1/push", Self.push("b", #""feed":"\#(now)","#, old: 5, new: 4))
            #expect(again.status == 200, "\(again.text)")
            let creates = #"{"feed":"\#(feed)","edits":[{"resource":"notes","id":"tmp:1","changeset":{}}]}"#
            #expect(try await client.post("/v1/push", creates).status != 409)
            #expect(try await database.run("SELECT n FROM counters WHERE id = 1;") == "4\n")
        }
    }

    @Test("A sync's feed is that of its pushes, unless a push names its own", arguments: TestEngine.allCases)
    func syncs(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            let feed = try #require(try await client.get("/v1/changes").json()["feed"]?.text)
            try await Self.beginNewFeed(database)
            try await Self.look(client)
            let now = try #require(try await client.get("/v1/changes").json()["feed"]?.text)
            let body =
                #"{"feed":"\#(feed)","since":1,"pushes":[\#(Self.push("a", "")),\#(Self.push("b", #""feed":"\#(now)","#))]}"#
            let answer = try await client.post("/v1/sync", body).json()
            #expect(answer["results"]?[0]?["problem"]?["code"]?.text == "history-changed")
            #expect(answer["results"]?[0]?["code"]?.int == 409)
            #expect(answer["results"]?[1]?["status"]?.text == "merged")
            #expect(try await database.run("SELECT n FROM counters WHERE id = 1;") == "5\n")
        }
    }

    @Test("A push that uses an id of a history-changed push waits for it", arguments: TestEngine.allCases)
    func dependents(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            let feed = try #require(try await client.get("/v1/changes").json()["feed"]?.text)
            try await Self.beginNewFeed(database)
            try await Self.look(client)
            let note = #"{"resource":"notes","id":"tmp:n","changeset":{"n":{"old":null,"new":{"text":"x"}}}}"#
            let edit = #"{"resource":"counters","id":1,"changeset":{"c":{"n":{"old":8,"new":9}}}}"#
            let later = #"{"resource":"notes","id":"tmp:m","changeset":{"n":{"old":null,"new":{"friend":"tmp:n"}}}}"#
            let body =
                #"{"feed":"\#(feed)","pushes":[{"key":"a","edits":[\#(edit),\#(note)]},{"key":"b","edits":[\#(later)]}]}"#
            let results = try await client.post("/v1/sync", body).json()["results"]
            #expect(results?[0]?["problem"]?["code"]?.text == "history-changed")
            #expect(results?[1]?["problem"]?["code"]?.text == "not-run", "\(String(describing: results))")
        }
    }

    @Test(
        "A push that was first sent when lost keys were in use is key-expired and kept", arguments: TestEngine.allCases)
    func keyExpired(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            let old = Self.push("a", #""sent":"2020-01-01T00:00:00Z","#)
            let first = try await client.post("/v1/push", old)
            #expect(first.status == 409 && first.text.contains(#""retry":false"#), "\(first.text)")
            #expect(try Self.code(first) == "key-expired")
            let again = try await client.post("/v1/push", old)
            #expect(again.status == 409 && again.text == first.text)
            #expect(again.headers["idempotent-replayed"] == "true")
            #expect(try await database.run("SELECT n FROM counters WHERE id = 1;") == "8\n")
            let synced = try await client.post(
                "/v1/sync", #"{"pushes":[\#(Self.push("c", #""sent":"2020-01-01T00:00:00Z","#))]}"#
            ).json()
            #expect(synced["results"]?[0]?["code"]?.int == 409)
            // Without a key there is nothing that could be lost, and a later time is fine.
            let without = #"{"sent":"2020-01-01T00:00:00Z","edits":[]}"#
            #expect(try await client.post("/v1/push", without).status == 200)
            let now = Self.push("b", #""sent":"2999-01-01T00:00:00Z","#)
            #expect(try await client.post("/v1/push", now).status == 200)
        }
    }

    @Test("A journal that forgets keys remembers since when it has all", arguments: TestEngine.allCases)
    func pruned(_ kind: TestEngine) async throws {
        try await Self.with(kind) { database, client in
            try await database.runOnJournal("UPDATE meta SET value = '0' WHERE name = 'keys-since';")
            try await Self.look(client)
            let push = Self.push("old", #""sent":"2020-01-01T00:00:00Z","#)
            #expect(try await client.post("/v1/push", push).status == 200)
            try await database.runOnJournal("UPDATE entries SET at = '2020-01-02 00:00:00';")
            let engine = try database.engine(journal: true)
            let schema = database.kind == .sqlite ? JournalTables.attachedName : database.journalName
            let journal = try await JournalOpener(engine: engine, schema: schema).open()
            _ = try await JournalPruning(journal: journal, keyDays: 30, entryDays: 4_000, owner: "test").run()
            await engine.close()
            try await Self.look(client)
            let again = try await client.post("/v1/push", push)
            #expect(again.status == 409, "\(again.text)")
            #expect(try await database.run("SELECT n FROM counters WHERE id = 1;") == "5\n")
        }
    }

    @Test(
        "A feed that is no string and a time that is not in UTC are 400",
        arguments: [#""feed":1,"#, #""sent":"yesterday","#, #""sent":"2026-11-20T10:00:00+02:00","#, #""sent":5,"#])
    func malformed(members: String) async throws {
        try await Self.with(.sqlite) { _, client async throws in
            #expect(try await client.post("/v1/push", Self.push("a", members)).status == 400)
            let edit = #"{"id":1,\#(members)"changeset":{}}"#
            #expect(try await client.post("/v1/merge/counters", edit).status == 400)
        }
    }
}
