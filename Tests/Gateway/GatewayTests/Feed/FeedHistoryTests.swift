import MergeService
import Operations
import RecordStore
import Testing
import TestSupport

/// The feed over longer times: its beginning, deleted revisions, and a new feed.
@Suite struct FeedHistoryTests {
    private static func journal(_ gateway: RunningGateway) async throws -> (any RecordEngine, Journal) {
        let database = gateway.database
        let engine = try database.engine(journal: true)
        let schema = database.kind == .sqlite ? JournalTables.attachedName : database.journalName
        return (engine, try await JournalOpener(engine: engine, schema: schema).open())
    }

    @Test("A feed that exists before the first row reports everything after 0", arguments: TestEngine.allCases)
    func fromZero(_ kind: TestEngine) async throws {
        let number = kind == .mariadb ? "AUTO_INCREMENT" : ""
        let sql = "CREATE TABLE homes (id INTEGER PRIMARY KEY \(number), name VARCHAR(20));"
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let rules = ["homes.yaml": "resource: homes\nsections:\n  home: {table: homes, groups: {name: name}}\n"]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/changes?since=0").status == 200)
                _ = try await client.push(
                    #"{"resource":"homes","id":-1,"changeset":{"home":{"old":null,"new":{"name":"a"}}}}"#)
                let feed = try await client.position().feed
                #expect(try await client.changes(after: (feed, 0)).names == ["homes/1"])
                #expect(try await client.get("/v1/changes?since=0").json().names == ["homes/1"])
            }
        }
    }

    @Test(
        "Old revisions are deleted, and a client with an older position needs a snapshot",
        arguments: TestEngine.allCases)
    func pruning(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            let (engine, journal) = try await Self.journal(gateway)
            try await gateway.client { client async throws in
                let start = try await client.position()
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                let first = try await client.changes(after: start)
                _ = try await client.push(FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\""))
                _ = try await client.changes(after: start)
                try await gateway.database.runOnJournal(
                    "UPDATE changes SET at = '2020-01-01 00:00:00' WHERE record = '1';")
                _ = try await JournalPruning(
                    journal: journal, keyDays: 30, entryDays: 400, changeDays: 30, owner: "test"
                ).run()
                // The gateway reads the earliest revision in its next sequencing run.
                _ = try await client.post("/v1/sync", "{}")
                let gone = try await client.get("/v1/changes?since=\(start.revision)&feed=\(start.feed)")
                #expect(gone.status == 410)
                #expect(try gone.json()["earliest"] == first["revision"])
                let kept = try await client.changes(after: (start.feed, first["revision"]?.int ?? 0))
                #expect(kept.names == ["homes/2"])
            }
            await engine.close()
        }
    }

    @Test("A new feed has greater revisions, and all clients need a snapshot", arguments: TestEngine.allCases)
    func newFeed(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            let (engine, journal) = try await Self.journal(gateway)
            try await gateway.client { client async throws in
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                let cursor = try #require(
                    try await client.get("/v1/snapshot").text.split(separator: "\n").compactMap {
                        try JSON(String($0))["cursor"]?.text
                    }.first)
                let old = try await client.position()
                let begun = try await journal.beginNewFeed()
                _ = try await client.post("/v1/sync", "{}")
                let new = try await client.position()
                #expect(
                    new.feed == begun.id && new.revision == begun.revision && new.revision > old.revision + 1_000_000)
                let gone = try await client.get("/v1/changes?since=\(old.revision)&feed=\(old.feed)")
                #expect(gone.status == 410)
                #expect(try gone.json()["feed"]?.text == new.feed)
                #expect(try await client.get("/v1/snapshot?after=\(cursor)").status == 410)
                _ = try await client.push(FeedFixture.edit("homes", 2, "name", "\"b\"", "\"B\""))
                #expect(try await client.changes(after: new).names == ["homes/2"])
            }
            await engine.close()
        }
    }
}
