import Gateway
import Testing
import TestSupport

/// A client that begins a request and does not go on.
@Suite struct SlowBodyTests {
    @Test("A slow body is refused")
    func refused() async throws {
        let database = try await Ledger.database(.sqlite)
        let push = Ledger.Push(label: "slow", account: 1, points: 1)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { configuration in
            configuration.requestSeconds = 1
        } _: { gateway async throws in
            try await gateway.client { client async throws in
                let answer = try await client.beginPost("/v1/push", Array(push.body().utf8).dropLast())
                #expect(answer.status == 408, "\(answer.text)")
                #expect(try answer.json()["code"]?.text == "request-timeout")
                #expect(answer.headers["connection"] == "close")
            }
            #expect(try await Ledger.Standing(database) == Ledger.Standing(after: []))
            try await gateway.client { client async throws in
                #expect(try await client.post("/v1/push", push.body()).status == 200)
            }
        }
    }
}
