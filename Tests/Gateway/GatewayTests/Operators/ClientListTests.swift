import MergeService
import Operations
import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// The devices that use the gateways.
@Suite(.timeLimit(.minutes(3))) struct ClientListTests {
    private static let tokens = ["ann": AccessToken.make(), "ben": AccessToken.make()]
    private static let lines =
        (tokens["ann"]?.line(name: "ann", rights: [.read, .write, .operate]) ?? "") + "\n"
        + (tokens["ben"]?.line(name: "ben", rights: [.read, .write]) ?? "")

    /// The gateway stores devices only with a console.
    private static let records: @Sendable (inout GatewayConfiguration) -> Void = { $0.console = .readOnly }

    private static func list(_ gateway: RunningGateway, _ query: String = "") async throws -> JSON {
        try await gateway.client(token: tokens["ann"]?.secret) { client async throws in
            let answer = try await client.get("/v1/operations/clients\(query)")
            #expect(answer.status == 200, "\(answer.text)")
            return try answer.json()
        }
    }

    /// Waits until the list has a number of devices, and returns them by user and device.
    private static func devices(_ gateway: RunningGateway, _ count: Int) async throws -> [String: JSON] {
        var found: [String: JSON] = [:]
        try await OutageTests.until {
            found = [:]
            for client in try await list(gateway)["clients"]?.array ?? [] {
                found["\(client["who"]?.text ?? "")/\(client["device"]?.text ?? "-")"] = client
            }
            return found.count >= count
        }
        return found
    }

    private static func sync(_ gateway: RunningGateway, as who: String, device: String) async throws {
        try await gateway.client(token: tokens[who]?.secret) { client async throws in
            let headers = ["X-Client": "shop/2.1", "X-Device-ID": device]
            let page = try await client.get("/v1/changes", headers).json()
            let position = "since=\(page["revision"]?.int ?? 0)&feed=\(page["feed"]?.text ?? "")"
            #expect(try await client.get("/v1/changes?\(position)", headers).status == 200)
        }
    }

    @Test("Two users with devices of one name are two devices, through two gateways", arguments: TestEngine.allCases)
    func sameName(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: Self.lines, journal: .together, configure: Self.records
        ) {
            one async throws in
            @Sendable func check(_ two: RunningGateway) async throws {
                try await Self.sync(one, as: "ann", device: "tablet")
                try await Self.sync(two, as: "ben", device: "tablet")
                try await Self.sync(two, as: "ben", device: "phone")
                let refused = #"{"id":2,"changeset":{"person":{"email":{"old":"b@x","new":"a@x"}}}}"#
                try await two.client(token: Self.tokens["ben"]?.secret) { client async throws in
                    for number in 1...3 {
                        let push = refused.replacing(#"{"id":2"#, with: #"{"key":"k\#(number)","id":2"#)
                        let answer = try await client.post("/v1/merge/people", push, ["X-Device-ID": "tablet"])
                        #expect(answer.status == 422)
                    }
                }
                _ = try await one.client(token: Self.tokens["ann"]?.secret) {
                    try await $0.post("/v1/journal/2/drop", "{}")
                }
                let devices = try await Self.devices(one, 3)
                #expect(devices.keys.sorted() == ["ann/tablet", "ben/phone", "ben/tablet"])
                let (ann, ben) = (devices["ann/tablet"], devices["ben/tablet"])
                #expect(ann?["refused"]?.int == 0 && ben?["refused"]?.int == 2, "\(devices)")
                #expect(ann?["program"]?.text == "shop/2.1" && ann?["seen"]?.text?.hasSuffix("Z") == true)
                #expect(ann?["revision"]?.int != nil && ann?["lag"]?.int == 0, "\(devices)")
                // A page of one device at a time.
                var (names, query): ([String], String) = ([], "?limit=1")
                while true {
                    let page = try await Self.list(one, query)
                    names +=
                        page["clients"]?.array.map { "\($0["who"]?.text ?? "")/\($0["device"]?.text ?? "-")" } ?? []
                    guard let next = page["next"]?.text else { break }
                    query = "?limit=1&after=\(next)"
                }
                #expect(names == devices.keys.sorted(), "\(names)")
            }
            if kind == .sqlite { return try await check(one) }
            try await RunningGateway.with(
                database, rules: JournalTests.rules, tokens: Self.lines, journal: .together, configure: Self.records
            ) { two async throws in try await check(two) }
        }
    }

    @Test("A lag is the number of revisions that the device has not read", arguments: TestEngine.allCases)
    func lag(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: Self.lines, journal: .together, configure: Self.records
        ) {
            gateway async throws in
            try await Self.sync(gateway, as: "ann", device: "tablet")
            _ = try await Self.devices(gateway, 1)
            try await gateway.client(token: Self.tokens["ann"]?.secret) { client async throws in
                let edit = JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#)
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
                _ = try await client.get("/v1/changes")
            }
            try await OutageTests.until {
                try await Self.devices(gateway, 1)["ann/tablet"]?["lag"]?.int ?? 0 > 0
            }
        }
    }

    @Test("Wrong queries and other rights are refused")
    func refusals() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: Self.lines, journal: .together, configure: Self.records
        ) {
            gateway async throws in
            try await gateway.client(token: Self.tokens["ann"]?.secret) { client async throws in
                for query in ["after=x", "after=zz.00", "limit=x", "who=ann"] {
                    #expect(try await client.get("/v1/operations/clients?\(query)").status == 400, "\(query)")
                }
            }
            try await gateway.client(token: Self.tokens["ben"]?.secret) { client async throws in
                #expect(try await client.get("/v1/operations/clients").status == 403)
            }
        }
    }

    @Test("Without the table pushes go on and the list is 501", .tags(.mariadb), .needsMariaDB)
    func missing() async throws {
        let database = try await JournalTests.database(.mariadb)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together, configure: Self.records)
        { gateway async throws in
            try await gateway.client { client async throws in
                try await database.runOnJournal("DROP TABLE clients;")
                let edit = JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#)
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
                let list = try await client.get("/v1/operations/clients")
                #expect(list.status == 501)
                #expect(try list.json()["code"]?.text == "no-clients")
                #expect(try await client.get("/readyz").status == 200)
            }
        }
    }

    private static var soon: ContinuousClock.Instant { .now.advanced(by: .seconds(30)) }

    @Test("Devices are pruned and erased", arguments: TestEngine.allCases)
    func forgetting(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        let journal = old.journal
        let rows = ["ann", "ben", "old"].map {
            ClientRow(who: $0, device: "tablet", program: nil, feed: nil, revision: nil)
        }
        #expect(try await journal.store(rows, erasures: 0, until: Self.soon) == 0)
        let known = ClientRow(who: "ben", device: "tablet", program: "shop/3", feed: "f", revision: 7)
        #expect(try await journal.store([known], erasures: 0, until: Self.soon) == 0)
        // Unknown parts keep their values.
        #expect(try await journal.store(rows.suffix(2), erasures: 0, until: Self.soon) == 0)
        try await old.database.runOnJournal("UPDATE clients SET seen = \(old.moment(-500)) WHERE who = 'old';")
        _ = try await old.pruning().run()
        try await journal.forgetClients(of: "ann", until: Self.soon)
        // A gateway that noted the device before does not store it again.
        #expect(try await journal.store(rows, erasures: 0, until: Self.soon) == 1)
        #expect(try await journal.clientErasures(until: Self.soon) == 1)
        let left = try await journal.clients(after: nil, limit: 10, Self.soon) ?? []
        #expect(left.map(\.row.who) == ["ben"] && left.first?.row.program == "shop/3" && left.first?.row.revision == 7)
    }

    @Test("A device is stored at once, and again after a minute at the earliest")
    func interval() {
        let clients = SeenClients(isOn: true)
        let start = ContinuousClock.now
        let sender = Sender(who: "ann", device: "tablet")
        clients.note(sender, program: "shop/2", at: ("f", 3))
        let first = clients.due(at: start)
        #expect(first.map(\.revision) == [3])
        clients.note(sender, program: nil, at: ("f", 4))
        clients.noteStored(first, at: start)
        #expect(clients.due(at: start + .seconds(59)).isEmpty)
        let second = clients.due(at: start + .seconds(60))
        #expect(second.map(\.revision) == [4] && second.first?.program == "shop/2")
        clients.noteStored(second, at: start + .seconds(60))
        #expect(clients.due(at: start + .seconds(600)).isEmpty)
    }

    @Test("One sender fills only its share of the table")
    func share() {
        let clients = SeenClients(isOn: true)
        for number in 0..<2_000 { clients.note(Sender(who: "ann", device: "d\(number)"), program: nil) }
        clients.note(Sender(who: "ben", device: "tablet"), program: nil)
        #expect(clients.due().count == 1_001)
    }
}
