import Gateway
import Testing
import TestSupport

/// COMMITs break while several clients write the same few rows.
@Suite(.timeLimit(.minutes(5))) struct InDoubtTests {
    @Test(
        "Acknowledged pushes equal stored pushes under broken COMMITs and killed connections", .tags(.mariadb),
        .needsMariaDB, arguments: [JournalPlace.ahead, .together])
    func acknowledgedEqualsStored(_ journal: JournalPlace) async throws {
        let database = try await Ledger.database(.mariadb)
        let server = try await PrivateMariaDB.shared
        try await CuttingProxy.with(server: server.socket) { proxy async throws in
            var random = SeededRandom(seed: 7)
            let cuts: [CuttingProxy.Cut?] = [.before, .before, .after] + Array(repeating: nil, count: 9)
            proxy.plan((0..<5_000).map { _ in cuts.randomElement(using: &random) ?? nil })
            try await RunningGateway.with(database.behind(proxy.socket), rules: Ledger.rules, journal: journal) {
                gateway async throws in
                let place = GatewayPlace()
                await place.open(gateway.port)
                let isOver = Flag()
                async let killer: Void = Self.killConnections(of: database, until: isOver)
                let settled = try await StubbornClient(place: place).settle(clients: 4, pushes: 6) {
                    proxy.cuts > 6
                }
                isOver.raise()
                try await killer
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: settled.map(\.push)))
                try await gateway.client { client async throws in
                    #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
                }
            }
        }
    }

    private static func killConnections(of database: TestDatabase, until isOver: Flag) async throws {
        while !isOver.isRaised {
            try await database.run("KILL USER \(database.accountSQL); DO SLEEP(2);")
        }
    }
}
