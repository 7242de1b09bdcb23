import Testing
import TestSupport

/// A backup is restored, a journal is lost, or the address leads to another server.
@Suite(.timeLimit(.minutes(5))) struct RestoreHistoryTests {
    private static let start = """
        CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL);
        INSERT INTO counters VALUES (1, 8), (2, 5);
        """
    private static let rules = [
        "counters.yaml": "resource: counters\nsections:\n  c: {table: counters, groups: {n: {column: n, merge: add}}}\n"
    ]

    private static func add(_ key: String, _ old: Int, _ new: Int) -> String {
        #"{"key":"\#(key)","edits":[{"resource":"counters","id":1,"changeset":{"c":{"n":{"old":\#(old),"new":\#(new)}}}}]}"#
    }

    /// Copies the journal's tables and restores them, like a dump.
    private static let tables = ["entries", "meta", "feed", "pending", "changes", "departures", "gateways"]

    private static func dump(_ database: TestDatabase) async throws {
        for table in tables { try await database.runOnJournal("CREATE TABLE dump_\(table) AS SELECT * FROM \(table);") }
    }

    private static func restore(_ database: TestDatabase) async throws {
        for table in tables {
            try await database.runOnJournal(
                "DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM dump_\(table);")
        }
    }

    @Test("A journal that goes back while the gateway runs begins a new feed", arguments: TestEngine.allCases)
    func whileRunning(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.start, sqlite: Self.start)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.post("/v1/push", Self.add("a", 8, 9)).status == 200)
                try await Self.dump(database)
                for number in 9..<19 {
                    #expect(try await client.post("/v1/push", Self.add("k\(number)", number, number + 1)).status == 200)
                }
                let before = try await client.post("/v1/sync", "{}").json()
                let feed = try #require(before["feed"]?.text)
                let revision = try #require(before["revision"]?.int)
                // The gateway has to remember the revision, which it does within a second.
                try await OutageTests.until { try await client.get("/readyz").text.contains("\(revision)") }
                try await Self.restore(database)
                try await OutageTests.until {
                    guard let now = try? await client.get("/v1/changes").json()["feed"]?.text else { return false }
                    return now != feed
                }
                let gone = try await client.get("/v1/changes?since=\(revision)&feed=\(feed)")
                #expect(gone.status == 410, "\(gone.text)")
                let now = try #require(try await client.get("/v1/changes").json()["revision"]?.int)
                #expect(now > revision)
                // Its key is not in the journal any more, so it must not run again.
                let again = Self.add("k9", 9, 10).replacing(
                    #""edits""#, with: #""sent":"2026-01-01T00:00:00Z","edits""#)
                let refused = try await client.post("/v1/push", again)
                #expect(refused.status == 409 && refused.text.contains("key-expired"), "\(refused.text)")
                #expect(try await database.run("SELECT n FROM counters WHERE id = 1;") == "19\n")
            }
        }
    }

    @Test("No change after a restore gets a revision that clients have read, not even at once")
    func atOnce() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.start)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.post("/v1/push", Self.add("a", 8, 9)).status == 200)
                try await Self.dump(database)
                for number in 9..<12 {
                    #expect(try await client.post("/v1/push", Self.add("k\(number)", number, number + 1)).status == 200)
                }
                let before = try await client.post("/v1/sync", "{}").json()
                let feed = try #require(before["feed"]?.text)
                let revision = try #require(before["revision"]?.int)
                try await Self.restore(database)
                for number in 0..<10 {
                    let answer = try await client.post("/v1/push", Self.add("n\(number)", 12, 13))
                    #expect([200, 503].contains(answer.status), "\(answer.text)")
                }
                try await OutageTests.until {
                    guard let now = try? await client.get("/v1/changes").json()["feed"]?.text else { return false }
                    return now != feed
                }
                #expect(try await client.get("/v1/changes?since=\(revision)&feed=\(feed)").status == 410)
            }
        }
    }

    @Test("A gateway that starts after a restore begins a new feed", arguments: TestEngine.allCases)
    func whileStopped(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.start, sqlite: Self.start)
        try await database.beginJournal()
        let first = try await GatewayProcess(database, rules: Self.rules)
        let feed = try await HTTPClient.with(port: first.port) { client async throws -> String in
            #expect(try await client.post("/v1/push", Self.add("a", 8, 9)).status == 200)
            try await Self.dump(database)
            #expect(try await client.post("/v1/push", Self.add("b", 9, 10)).status == 200)
            return try #require(try await client.post("/v1/sync", "{}").json()["feed"]?.text)
        }
        #expect(await first.stop() == 0)
        try await Self.restore(database)
        let second = try await GatewayProcess(database, rules: Self.rules)
        try await HTTPClient.with(port: second.port) { client async throws in
            let now = try await client.get("/v1/changes").json()["feed"]?.text
            #expect(now != feed)
            #expect(second.log.contains("history of the database has changed"))
        }
        #expect(await second.stop() == 0)
        // Nothing has changed since, so the feed continues.
        let third = try await GatewayProcess(database, rules: Self.rules)
        #expect(!third.log.contains("history of the database has changed"))
        _ = await third.stop()
    }

    @Test("A promoted replica begins a new feed", .tags(.mariadb), .needsMariaDB)
    func anotherServer() async throws {
        let server = try await PrivateMariaDB(options: ["--server-id=1"])
        let database = try await TestDatabase(.mariadb, mariadb: Self.start, sqlite: "", server: server)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let feed = try #require(try await client.get("/v1/changes").json()["feed"]?.text)
                try await database.runAsOperator("SET GLOBAL server_id = 7;")
                try await OutageTests.until {
                    guard let now = try? await client.get("/v1/changes").json()["feed"]?.text else { return false }
                    return now != feed
                }
            }
        }
        server.kill()
    }

    @Test("A gateway ends if a file of its database is replaced", arguments: [false, true])
    func replacedFile(isJournal: Bool) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.start)
        let gateway = try await GatewayProcess(database, rules: Self.rules)
        try await HTTPClient.with(port: gateway.port) { client async throws in
            #expect(try await client.post("/v1/push", Self.add("a", 8, 9)).status == 200)
            // When the gateway reports a feed, it has read the files.
            try await OutageTests.until { try await client.get("/readyz").text.contains("revision") }
        }
        let file = isJournal ? database.journalName : database.name
        try await Shell.run(["cp", file, file + ".copy"])
        try await Shell.run(["mv", file + ".copy", file])
        #expect(await gateway.line(containing: "was replaced while the gateway ran") != nil)
        #expect(await gateway.stop() != 0)
    }

    @Test("A journal file that is lost is an error at start")
    func lostFile() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.start)
        let first = try await GatewayProcess(database, rules: Self.rules)
        let feed = try await HTTPClient.with(port: first.port) { client async throws in
            try await client.post("/v1/sync", "{}").json()["feed"]?.text
        }
        #expect(await first.stop() == 0)
        try await Shell.run(["rm", database.journalName])
        await #expect(throws: Shell.Failure.self) { _ = try await GatewayProcess(database, rules: Self.rules) }
        try await Shell.run([
            GatewayProcess.program, "journal", "init", "--database", database.url, "--journal", database.journalURL,
        ])
        let second = try await GatewayProcess(database, rules: Self.rules)
        try await HTTPClient.with(port: second.port) { client async throws in
            #expect(try await client.post("/v1/sync", "{}").json()["feed"]?.text != feed)
            let late = Self.add("b", 8, 9).replacing(#""edits""#, with: #""sent":"2026-01-01T00:00:00Z","edits""#)
            #expect(try await client.post("/v1/push", late).text.contains("key-expired"))
            #expect(try await client.get("/readyz").text.contains("Another journal is in the place"))
            #expect(try await client.get("/metrics").text.contains("fieldmerge_history_changes_total 1"))
        }
        #expect(await second.stop() == 0)
    }
}
