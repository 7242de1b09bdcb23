import Foundation
import Operations
import Testing
import TestSupport

/// Maintenance: reads go on, and nothing is written.
@Suite(.timeLimit(.minutes(3))) struct MaintenanceTests {
    private static func set(_ isOn: Bool, _ client: HTTPClient.Session, reason: String? = nil) async throws -> JSON {
        let more = reason.map { #","reason":"\#($0)""# } ?? ""
        let answer = try await client.post("/v1/operations/maintenance", #"{"maintenance":\#(isOn)\#(more)}"#)
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.json()
    }

    @Test(
        "Reads go on and pushes wait", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func readsGoOn(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await Ledger.database(kind)
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        try await RunningGateway.with(database, rules: Ledger.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                let known = Ledger.Push(label: "k", account: 2, points: 1)
                let first = try await client.post("/v1/push", known.body())
                #expect(first.status == 200)
                let on = try await Self.set(true, client, reason: "restore of Monday")
                #expect(on == (try JSON(#"{"maintenance":true,"reason":"restore of Monday","running":0}"#)), "\(on)")
                let ready = try await client.get("/readyz")
                #expect(ready.status == 503 && ready.text.contains("under maintenance: restore of Monday"))
                #expect(try await client.metric("fieldmerge_maintenance") == 1)
                let push = Ledger.Push(label: "p", account: 1, points: 1)
                for path in ["/v1/push", "/v1/push?preview=true", "/v1/journal/1/undo"] {
                    let refused = try await client.post(path, path.hasSuffix("undo") ? "{}" : push.body())
                    #expect(refused.status == 503, "\(path) \(refused.text)")
                    #expect(try refused.json()["code"]?.text == "maintenance", "\(path) \(refused.text)")
                    #expect(try refused.json()["retry"]?.bool == true)
                    #expect(refused.headers["retry-after"] != nil)
                }
                let again = try await client.post("/v1/push", known.body())
                #expect(again.body == first.body && again.headers["idempotent-replayed"] == "true")
                let sync = try await client.post(
                    "/v1/sync",
                    #"{"pushes":[\#(known.body()),\#(push.body()),\#(push.body().replacing("\"p\"", with: "\"q\""))]}"#)
                #expect(sync.status == 207)
                let results = try sync.json()["results"]?.array ?? []
                #expect(
                    results.map { $0["problem"]?["code"]?.text } == [nil, "maintenance", "not-run"], "\(sync.text)")
                for path in [
                    "/v1/records/accounts/1", "/v1/records/accounts", "/v1/changes", "/v1/snapshot", "/v1/journal",
                ] {
                    #expect(try await client.get(path).status == 200, "\(path)")
                }
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [known]))
                #expect(try await Self.set(false, client)["maintenance"]?.bool == false)
                #expect(try await client.get("/readyz").status == 200)
                #expect(try await client.post("/v1/push", push.body()).status == 200)
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [known, push]))
            }
        }
    }

    @Test("The scan stops, and finds the changes later", arguments: TestEngine.allCases)
    func theScanStops(_ kind: TestEngine) async throws {
        try await ScanFixture.with(kind) { gateway async throws in
            try await gateway.client { client async throws in
                let position = try await client.position()
                _ = try await Self.set(true, client)
                try await OutageTests.until { try await client.metric("fieldmerge_scan_scanning") == 0 }
                let cycles = try await client.metric("fieldmerge_scan_cycles_total")
                try await gateway.database.run("UPDATE homes SET name = 'z' WHERE id = 1;")
                let waited = try await client.get("/v1/changes?since=\(position.revision)&feed=\(position.feed)&wait=2")
                #expect(try waited.json()["changes"]?.array.isEmpty == true)
                #expect(try await client.metric("fieldmerge_scan_cycles_total") == cycles)
                _ = try await Self.set(false, client)
                let reported = try await client.changes(after: position, until: ["homes/1"])
                #expect(reported.changes.map(\.name) == ["homes/1"])
            }
        }
    }

    @Test("No revisions are assigned", .tags(.mariadb), .needsMariaDB)
    func sequencingStops() async throws {
        try await FeedFixture.with(.mariadb) { gateway async throws in
            try await gateway.client { client async throws in
                let position = try await client.position()
                _ = try await client.push(FeedFixture.edit("homes", 1, "name", "\"a\"", "\"A\""))
                _ = try await client.changes(after: position)
                _ = try await Self.set(true, client)
                // A transaction that another gateway has just committed.
                let row = "SELECT first, step, records FROM pending"
                try await gateway.database.runOnJournal(
                    "INSERT INTO pending (first, step, records) VALUES (1, 1, X'00');")
                #expect(try await client.get("/v1/changes").status == 200)
                #expect(try await client.post("/v1/sync", "{}").status == 200)
                #expect(try await gateway.database.runOnJournal(row + ";").isEmpty == false)
                try await gateway.database.runOnJournal("DELETE FROM pending;")
            }
        }
    }

    @Test("Only operators switch it")
    func onlyOperators() async throws {
        let (writer, office) = (AccessToken.make(), AccessToken.make())
        let file =
            writer.line(name: "w", rights: [.read, .write]) + "\n"
            + office.line(name: "o", rights: [.read, .write, .operate])
        let database = try await Ledger.database(.sqlite)
        try await RunningGateway.with(database, rules: Ledger.rules, tokens: file) { gateway async throws in
            let path = "/v1/operations/maintenance"
            try await gateway.client(token: writer.secret) { client async throws in
                #expect(try await client.post(path, #"{"maintenance":true}"#).status == 403)
                #expect(try await client.get(path).status == 405)
            }
            try await gateway.client(token: office.secret) { client async throws in
                for body in ["{}", #"{"maintenance":1}"#, #"{"maintenance":true,"reason":""}"#, #"{"on":true}"#, "[]"] {
                    #expect(try await client.post(path, body).status == 400, "\(body)")
                }
                #expect(try await client.get("/readyz").status == 200)
                #expect(try await client.post(path, #"{"maintenance":true}"#).status == 200)
                #expect(try await client.get("/readyz").status == 503)
            }
        }
    }

    @Test("A signal and an option switch it")
    func signals() async throws {
        let database = try await Ledger.database(.sqlite)
        let gateway = try await GatewayProcess(database, rules: Ledger.rules, options: ["--maintenance"])
        try await HTTPClient.with(port: gateway.port) { client async throws in
            let push = Ledger.Push(label: "p", account: 1, points: 1)
            #expect(try await client.post("/v1/push", push.body()).status == 503)
            kill(gateway.identifier, SIGUSR2)
            #expect(await gateway.line(containing: "maintenance has ended") != nil)
            #expect(try await client.post("/v1/push", push.body()).status == 200)
            kill(gateway.identifier, SIGUSR1)
            #expect(await gateway.line(containing: "maintenance begins: SIGUSR1") != nil)
            #expect(try await client.get("/readyz").text.contains("under maintenance: SIGUSR1"))
        }
    }
}
