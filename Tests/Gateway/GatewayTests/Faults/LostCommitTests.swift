import Gateway
import Testing
import TestSupport

/// The connection to the server breaks at COMMIT, so its outcome is unknown to the gateway.
@Suite(.timeLimit(.minutes(5))) struct LostCommitTests {
    private static let push = Ledger.Push(label: "once", account: 1, points: 5)
    private static let nothing = Ledger.Standing(after: [])
    private static let once = Ledger.Standing(after: [push])

    private static func with(
        journal: JournalPlace? = .together,
        _ body: @escaping @Sendable (HTTPClient.Session, CuttingProxy, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await Ledger.database(.mariadb)
        let server = try await PrivateMariaDB.shared
        try await CuttingProxy.with(server: server.socket) { proxy in
            // Only the COMMIT of the push is cut.
            try await RunningGateway.with(
                database.behind(proxy.socket), rules: Ledger.rules, journal: journal,
                configure: { $0.feedInterval = .seconds(3_600) }
            ) {
                try await $0.client { client async throws in
                    // The feed is looked at once, and then for a long time not again.
                    _ = try await client.get("/v1/changes")
                    try await body(client, proxy, database)
                }
            }
        }
    }

    /// The key decides whether the push was applied.
    ///
    /// If it was not, the gateway runs it again.
    @Test("A key decides the outcome", .tags(.mariadb), .needsMariaDB, arguments: [CuttingProxy.Cut.before, .after])
    func key(_ cut: CuttingProxy.Cut) async throws {
        try await Self.with { client, proxy, database async throws in
            proxy.plan([cut])
            let answer = try await client.post("/v1/push", Self.push.body())
            #expect(proxy.cuts == 1)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.json()["results"]?[0]?["record"]?["account"]?["points"]?.int == 5)
            #expect(try await Ledger.Standing(database) == Self.once)
            let again = try await client.post("/v1/push", Self.push.body())
            #expect(again.body == answer.body)
            #expect(again.headers["idempotent-replayed"] == "true")
            #expect(try await Ledger.Standing(database) == Self.once)
        }
    }

    @Test(
        "Without a key the outcome is unknown", .tags(.mariadb), .needsMariaDB,
        arguments: [CuttingProxy.Cut.before, .after])
    func noKey(_ cut: CuttingProxy.Cut) async throws {
        try await Self.with { client, proxy, database async throws in
            proxy.plan([cut])
            try Self.expectUnknown(try await client.post("/v1/push", Self.push.body(isKeyed: false)))
            #expect(proxy.cuts == 1)
            #expect(try await Ledger.Standing(database) == (cut == .before ? Self.nothing : Self.once))
        }
    }

    @Test(
        "Without a journal the outcome is unknown, although the push has a key", .tags(.mariadb), .needsMariaDB,
        arguments: [CuttingProxy.Cut.before, .after])
    func noJournal(_ cut: CuttingProxy.Cut) async throws {
        try await Self.with(journal: nil) { client, proxy, database async throws in
            proxy.plan([cut])
            try Self.expectUnknown(try await client.post("/v1/push", Self.push.body()))
            #expect(proxy.cuts == 1)
            #expect(try await Ledger.Standing(database) == (cut == .before ? Self.nothing : Self.once))
        }
    }

    @Test(
        "With an unreachable journal the outcome is unknown", .tags(.mariadb), .needsMariaDB,
        arguments: [CuttingProxy.Cut.before, .after])
    func unreachableJournal(_ cut: CuttingProxy.Cut) async throws {
        try await Self.with { client, proxy, database async throws in
            proxy.plan([cut], closing: true)
            try Self.expectUnknown(try await client.post("/v1/push", Self.push.body()))
            #expect(proxy.cuts == 1)
            #expect(try await Ledger.Standing(database) == (cut == .before ? Self.nothing : Self.once))
            proxy.reopen()
            let again = try await client.post("/v1/push", Self.push.body())
            #expect(again.status == 200, "\(again.text)")
            #expect((again.headers["idempotent-replayed"] == "true") == (cut == .after))
            #expect(try await Ledger.Standing(database) == Self.once)
        }
    }

    /// Every third COMMIT is lost, before or after its effect, and clients notice only a delay.
    @Test("The keys decide the outcomes of many pushes", .tags(.mariadb), .needsMariaDB)
    func manyPushes() async throws {
        try await Self.with { _, proxy, database async throws in
            var random = SeededRandom(seed: 3)
            proxy.plan(
                (0..<900).map { _ in [.before, .after, nil, nil, nil, nil].randomElement(using: &random) ?? nil })
            try await RunningGateway.with(database.behind(proxy.socket), rules: Ledger.rules, journal: .together) {
                gateway async throws in
                let place = GatewayPlace()
                await place.open(gateway.port)
                let settled = try await StubbornClient(place: place).settle(clients: 4, pushes: 25) {
                    proxy.cuts > 15
                }
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: settled.map(\.push)))
                try await gateway.client { client async throws in
                    #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
                }
            }
        }
    }

    private static func expectUnknown(_ answer: HTTPClient.Answer) throws {
        #expect(answer.status == 504, "\(answer.text)")
        #expect(try answer.json()["code"]?.text == "unknown-outcome")
        #expect(try answer.json()["retry"]?.bool == true)
    }
}
