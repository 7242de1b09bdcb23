import Foundation
import Testing
import TestSupport

/// The gateway is killed at random moments of pushes, and each push is applied once all the same.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KilledGatewayTests {
    private static let clients = 4
    /// Pushes of each client; FIELDMERGE_TEST_PUSHES asks for more.
    private static let pushes =
        ProcessInfo.processInfo.environment["FIELDMERGE_TEST_PUSHES"].flatMap { Int($0) } ?? 25

    @Test(arguments: TestEngine.allCases) func everyPushIsAppliedOnce(_ kind: TestEngine) async throws {
        let database = try await Ledger.database(kind)
        let place = GatewayPlace()
        let (attempts, attempt) = AsyncStream<Void>.makeStream()
        async let gateway = Self.killAndRestart(database, place, attempts)
        let client = StubbornClient(place: place, attempts: attempt)
        let settled = try await withThrowingTaskGroup(of: [StubbornClient.Settled].self) { group in
            for number in 0..<Self.clients {
                group.addTask {
                    try await client.settle(
                        (0..<Self.pushes).map { index in
                            Ledger.Push(
                                label: "\(number).\(index)", account: 1 + (number + index) % Ledger.accounts,
                                points: 1 + index % 7)
                        })
                }
            }
            defer { attempt.finish() }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let (last, kills) = try await gateway
        #expect(settled.count == Self.clients * Self.pushes)
        #expect(kills > settled.count / 10)
        // The kills met pushes on their way, and not only the time between two.
        #expect(settled.count { $0.attempts > 1 } > kills / 4)
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: settled.map(\.push)))
        let replayed = try await HTTPClient.with(port: last.port) { client in
            var replay = JournalReplay(start: try Self.start)
            try await replay.apply(client)
            return replay
        }
        #expect(Ledger.rows(replayed) == (try await Ledger.rows(database)))
    }

    /// The records as they are made.
    private static var start: [JSON] {
        get throws {
            try zip(1..., ["one", "two", "three"]).map { id, name in
                try JSON(
                    #"{"id":\#(id),"account":{"name":"\#(name)","points":0,"street":"","town":""},"bookings":\#(id == 1 ? #"[{"id":1,"label":"first"}]"# : "[]")}"#
                )
            }
        }
    }

    /// - Returns: the gateway that runs in the end, and how many were killed before it.
    private static func killAndRestart(
        _ database: TestDatabase, _ place: GatewayPlace, _ attempts: AsyncStream<Void>
    ) async throws -> (GatewayProcess, kills: Int) {
        var random = SeededRandom(seed: 11)
        var attempt = attempts.makeAsyncIterator()
        var kills = 0
        while true {
            let gateway: GatewayProcess
            do {
                gateway = try await GatewayProcess(database, rules: Ledger.rules)
            } catch {
                await place.fail(error)
                throw error
            }
            await place.open(gateway.port)
            for _ in 0..<Int.random(in: 1...8, using: &random) where await attempt.next() == nil {
                return (gateway, kills)
            }
            // Nothing waits for this: it is the moment of the fault, anywhere in the pushes that are under way.
            try await Task.sleep(for: .microseconds(Int.random(in: 0...10_000, using: &random)))
            await place.close()
            gateway.kill()
            kills += 1
        }
    }
}
