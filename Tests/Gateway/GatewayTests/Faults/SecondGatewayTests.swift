import Testing
import TestSupport

/// A SQLite file, and a write-ahead journal, belong to one gateway at a time.
@Suite(.timeLimit(.minutes(3))) struct SecondGatewayTests {
    /// The files that a second gateway finds locked: the database, or the write-ahead journal.
    enum Setup: String, CaseIterable, Sendable {
        case sqlite
        case sqliteInWALMode
        case journalBesideMariaDB

        static let possible = allCases.filter { $0 != .journalBesideMariaDB || TestEngine.allCases.contains(.mariadb) }
    }

    private static let push = Ledger.Push(label: "p", account: 1, points: 3)

    private static func gateway(_ setup: Setup, _ database: TestDatabase) async throws -> GatewayProcess {
        guard setup == .journalBesideMariaDB else { return try await GatewayProcess(database, rules: Ledger.rules) }
        return try await GatewayProcess(
            database, rules: Ledger.rules, options: ["--journal", "sqlite:" + database.journalFile],
            namesJournal: false)
    }

    @Test("A second gateway waits, and takes over when the first has ended", arguments: Setup.possible, [true, false])
    func takeover(_ setup: Setup, _ isKilled: Bool) async throws {
        let database = try await Ledger.database(setup == .journalBesideMariaDB ? .mariadb : .sqlite)
        if setup == .sqliteInWALMode { try await database.run("PRAGMA journal_mode = WAL;") }
        let first = try await Self.gateway(setup, database)
        let second = try await Self.gateway(setup, database)
        #expect(second.log.contains("another gateway serves"), "\(second.log)")
        try await HTTPClient.with(port: second.port) { client async throws in
            #expect(try await client.get("/healthz").status == 200)
            let ready = try await client.get("/readyz")
            #expect(ready.status == 503)
            #expect(ready.text.contains("another gateway serves"), "\(ready.text)")
            let refused = try await client.post("/v1/push", Self.push.body())
            #expect(refused.status == 503)
            #expect(try refused.json()["code"]?.text == "not-ready")
            #expect(try refused.json()["retry"]?.bool == true)
            #expect(try await client.get("/v1/records/accounts/1").status == 503)
        }
        try await HTTPClient.with(port: first.port) { client async throws in
            #expect(try await client.post("/v1/push", Self.push.body()).status == 200)
        }
        if isKilled { first.kill() } else { #expect(await first.stop() == 0) }
        try await HTTPClient.with(port: second.port) { client async throws in
            while try await client.get("/readyz").status != 200 {}
            let again = try await client.post("/v1/push", Self.push.body())
            #expect(again.status == 200, "\(again.text)")
            #expect(again.headers["idempotent-replayed"] == "true")
        }
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [Self.push]))
    }

    @Test("The command line undoes an entry while the gateway merges pushes", arguments: Setup.possible)
    func undo(_ setup: Setup) async throws {
        let database = try await Ledger.database(setup == .journalBesideMariaDB ? .mariadb : .sqlite)
        if setup == .sqliteInWALMode { try await database.run("PRAGMA journal_mode = WAL;") }
        let gateway = try await Self.gateway(setup, database)
        let journal = setup == .journalBesideMariaDB ? "sqlite:" + database.journalFile : database.journalURL
        let port = gateway.port
        let answer = try await HTTPClient.with(port: port) { try await $0.post("/v1/push", Self.push.body()) }
        try #require(answer.status == 200, "\(answer.text)")
        let pushes = (0..<20).map { Ledger.Push(label: "b\($0)", account: 1, points: 1) }
        async let merged: Void = HTTPClient.with(port: port) { client async throws in
            for push in pushes {
                let answer = try await client.post("/v1/push", push.body())
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        let undo = try await Shell.capture(
            [
                GatewayProcess.program, "journal", "undo", "1", "--database", database.url, "--journal", journal,
                "--rules", gateway.rulesFolder, "--group", "account.points",
            ])
        #expect(undo.status == 0, "\(undo)")
        try await merged
        #expect(try await database.run("SELECT points FROM accounts WHERE id = 1;") == "20\n")
    }
}
