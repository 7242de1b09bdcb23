import Testing
import TestSupport

/// The database server is killed and started again under load.
@Suite(.timeLimit(.minutes(5))) struct KilledServerTests {
    private static let kills = 3

    @Test func everyPushIsAppliedOnce() async throws {
        let server = try await PrivateMariaDB()
        let database = try await Ledger.database(.mariadb, server: server)
        let (events, event) = AsyncStream<StubbornClient.Event>.makeStream()
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { gateway async throws in
            let place = GatewayPlace()
            await place.open(gateway.port)
            async let kills = Self.killAndRestart(server, events)
            let settled = try await StubbornClient(place: place, events: event).settle(clients: 4, pushes: 60)
            #expect(try await kills == Self.kills)
            #expect(settled.contains { !$0.refusals.isEmpty })
            #expect(try await Ledger.Standing(database) == Ledger.Standing(after: settled.map(\.push)))
            try await gateway.client { client async throws in
                #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
            }
        }
        server.kill()
    }

    /// - Returns: how often the server was killed.
    private static func killAndRestart(
        _ server: PrivateMariaDB, _ events: AsyncStream<StubbornClient.Event>
    ) async throws -> Int {
        var merged = events.filter { $0 == .merged }.makeAsyncIterator()
        var random = SeededRandom(seed: 5)
        for kill in 0..<kills {
            for _ in 0..<Int.random(in: 30...60, using: &random) where await merged.next() == nil { return kill }
            // The moment of the fault is anywhere in the pushes that are under way: some turns of the clients later.
            for _ in 0..<Int.random(in: 0...60, using: &random) { await Task.yield() }
            server.kill()
            try await server.start()
        }
        return kills
    }
}
