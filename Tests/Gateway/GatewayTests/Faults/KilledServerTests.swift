import Testing
import TestSupport

/// The database server is killed and started again under load.
@Suite(.timeLimit(.minutes(5))) struct KilledServerTests {
    private static let kills = 3

    @Test("Each push is applied once", .tags(.mariadb), .needsMariaDB)
    func kills() async throws {
        let server = try await PrivateMariaDB()
        let database = try await Ledger.database(.mariadb, server: server)
        let (events, event) = AsyncStream<StubbornClient.Event>.makeStream(bufferingPolicy: .bufferingNewest(60))
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { gateway async throws in
            let place = GatewayPlace()
            await place.open(gateway.port)
            let kills = Counter()
            async let killer: Void = Self.killAndRestart(server, events, kills)
            let client = StubbornClient(place: place, events: event)
            let isOver = Counter()
            async let followed = StubbornFollower(place: place).follow { isOver.value > 0 }
            let settled = try await client.settle(clients: 4, pushes: 60) {
                kills.value >= Self.kills && client.disturbed.value >= Self.kills
            }
            try await killer
            isOver.increase()
            #expect(try Ledger.rows(try await followed.records) == (try await Ledger.rows(database)))
            #expect(try await Ledger.Standing(database) == Ledger.Standing(after: settled.map(\.push)))
            try await gateway.client { client async throws in
                #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
            }
        }
        server.kill()
    }

    private static func killAndRestart(
        _ server: PrivateMariaDB, _ events: AsyncStream<StubbornClient.Event>, _ kills: Counter
    ) async throws {
        var merged = events.filter { $0 == .merged }.makeAsyncIterator()
        var random = SeededRandom(seed: 5)
        while true {
            for _ in 0..<Int.random(in: 30...60, using: &random) where await merged.next() == nil { return }
            // The moment of the fault is anywhere in the pushes that are under way: some turns of the clients later.
            for _ in 0..<Int.random(in: 0...60, using: &random) { await Task.yield() }
            server.kill()
            try await server.start()
            kills.increase()
        }
    }
}
