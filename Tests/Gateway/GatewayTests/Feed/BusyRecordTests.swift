import Testing
import TestSupport

/// A page contains every record that changed, also one that changes again while the page is read.
@Suite(.timeLimit(.minutes(3))) struct BusyRecordTests {
    private static let rounds = 8

    /// Runs two gateways on one database.
    ///
    /// Clients follow the changes on the first, and write on the second.
    private static func withTwo(
        _ database: TestDatabase,
        _ body: @escaping @Sendable (HTTPClient.Session, HTTPClient.Session) async throws -> Void
    ) async throws {
        try await RunningGateway.withTwo(database, rules: FeedFixture.rules) { one, two async throws in
            try await one.client { reader async throws in
                try await two.client { writer async throws in try await body(reader, writer) }
            }
        }
    }

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        try await TestDatabase(kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
    }

    /// The revision up to which both gateways have committed something later.
    private static func confirmed(_ database: TestDatabase) async throws -> Int {
        let answer = try await database.runOnJournal("SELECT MIN(confirmed) FROM gateways;")
        return Int(answer.split(separator: "\n").first ?? "") ?? 0
    }

    /// Edits the busy record and waits until the change has a revision.
    private static func edit(_ name: String, _ writer: HTTPClient.Session) async throws {
        _ = try await writer.push(FeedFixture.edit("homes", 1, "name", #""?""#, "\"\(name)\""))
        let sync = try await writer.post("/v1/sync", "{}")
        try #require(sync.status == 200, "\(sync.text)")
    }

    private static func isWhole(_ page: JSON, since: Int, _ name: String) -> Bool {
        let change = page["changes"]?.array.first { $0.name == "homes/1" }
        return change?["record"]?["home"]?["name"]?.text == name
            && change?["revision"]?.int == page["revision"]?.int && page["revision"]?.int ?? 0 > since
    }

    /// Edits the busy record again and again while a closure runs.
    private static func whileEditing(_ writer: HTTPClient.Session, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await editAgainAndAgain(writer) }
            try await body()
            group.cancelAll()
        }
    }

    private static func editAgainAndAgain(_ writer: HTTPClient.Session) async throws {
        for number in 0... {
            if Task.isCancelled { return }
            try await edit("n\(number)", writer)
        }
    }

    private static func sync(_ client: HTTPClient.Session, _ since: Int, _ feed: String) async throws -> JSON {
        try await client.post("/v1/sync", #"{"since":\#(since),"feed":"\#(feed)"}"#).json()
    }

    private static func poll(_ client: HTTPClient.Session, _ since: Int, _ feed: String) async throws -> JSON {
        try await client.get("/v1/changes?since=\(since)&feed=\(feed)&wait=5").json()
    }

    private static func nextPage(_ events: HTTPClient.Session) async throws -> JSON {
        while true {
            let piece = try #require(try await events.nextPiece())
            let data = piece.split(separator: "\n").first { $0.hasPrefix("data: ") }
            if let data { return try JSON(String(data.dropFirst(6))) }
        }
    }

    @Test("A record that changes between two reads of the feed is in the page", arguments: TestEngine.allCases)
    func polls(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        try await Self.withTwo(database) { reader, writer in
            for round in 0..<Self.rounds {
                let start = try await writer.changes(after: reader.position())["revision"]?.int ?? 0
                let feed = try await reader.position().feed
                try await Self.edit("a\(round)", writer)
                // The reader's gateway has read the first change, and has had no time to read the second.
                _ = try await reader.post("/v1/sync", "{}")
                try await Self.edit("b\(round)", writer)
                let page = try await reader.get("/v1/changes?since=\(start)&feed=\(feed)").json()
                #expect(Self.isWhole(page, since: start, "b\(round)"), "\(page)")
                // A gateway serves revisions of another gateway only after it has committed later itself.
                if kind == .mariadb { #expect(try await Self.confirmed(database) >= page["revision"]?.int ?? .max) }
            }
        }
    }

    @Test("Syncs and waits that report a later revision contain the busy record", arguments: TestEngine.allCases)
    func syncsAndWaits(_ kind: TestEngine) async throws {
        try await Self.withTwo(try await Self.database(kind)) { reader, writer in
            let start = try await reader.position()
            try await Self.whileEditing(writer) {
                var since = start.revision
                for round in 0..<6 * Self.rounds {
                    let page = try await (round % 2 == 0 ? Self.sync : Self.poll)(reader, since, start.feed)
                    let revision = page["revision"]?.int ?? 0
                    // Only this record changes, so each later revision belongs to it.
                    #expect(page.names == (revision > since ? ["homes/1"] : []), "since \(since): \(page)")
                    since = revision
                }
            }
        }
    }

    @Test("Events report a busy record repeatedly", arguments: TestEngine.allCases)
    func events(_ kind: TestEngine) async throws {
        try await Self.withTwo(try await Self.database(kind)) { reader, writer in
            let start = try await reader.position()
            let path = "/v1/changes?since=\(start.revision)&feed=\(start.feed)"
            #expect(try await reader.open(path, ["Accept": "text/event-stream"]) == 200)
            try await Self.whileEditing(writer) {
                var last = start.revision
                for _ in 0..<Self.rounds {
                    let page = try await Self.nextPage(reader)
                    #expect(page["revision"]?.int ?? 0 > last && page.names == ["homes/1"], "\(page)")
                    last = page["revision"]?.int ?? 0
                }
            }
        }
    }

    @Test("A client whose changes were pruned a moment ago gets 410", arguments: TestEngine.allCases)
    func prunedChanges(_ kind: TestEngine) async throws {
        try await FeedFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                for round in 0..<3 {
                    let start = try await client.position()
                    try await Self.edit("a\(round)", client)
                    // The gateway has read the feed just now, and prunes before it reads it again.
                    try await gateway.database.runOnJournal(
                        "UPDATE feed SET oldest = last; DELETE FROM changes WHERE revision > 0;")
                    let gone = try await client.get("/v1/changes?since=\(start.revision)&feed=\(start.feed)")
                    #expect(gone.status == 410, "\(gone.text)")
                    #expect(try gone.json()["earliest"]?.int ?? 0 > start.revision)
                    let sync = try await Self.sync(client, start.revision, start.feed)
                    #expect(sync["problem"]?["code"]?.text == "resync")
                }
            }
        }
    }
}
