import Testing
import TestSupport

/// A database for which each round trip takes 40 ms.
@Suite(.tags(.mariadb), .needsMariaDB, .timeLimit(.minutes(3))) struct DistantDatabaseTests {
    @Test("A gateway with a distant database becomes ready, and merges pushes")
    func readiness() async throws {
        let database = try await Ledger.database(.mariadb)
        try await database.initJournal()
        let socket = try #require(database.socket)
        try await SocketRelay.with(socket: socket, delay: .milliseconds(20)) { port in
            let gateway = try await GatewayProcess(
                database, rules: Ledger.rules, url: "mariadb://\(database.account)@127.0.0.1:\(port)/\(database.name)")
            try await HTTPClient.with(port: gateway.port) { client async throws in
                let end = ContinuousClock.now + .seconds(60)
                var ready = try await client.get("/readyz")
                while ready.status != 200, .now < end { ready = try await client.get("/readyz") }
                #expect(ready.status == 200, "\(ready.text)")
                let push = Ledger.Push(label: "far", account: 1, points: 1)
                let answer = try await client.post("/v1/push", push.body())
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
    }
}
