import Testing
import TestSupport

@testable import Gateway

/// Random writes of records and of the rows that decide about them, against a snapshot.
@Suite(.timeLimit(.minutes(5))) struct ReferredWalkTests {
    typealias Follower = AccessFeedTests.Follower

    private static let technicians = ["ann", "bob", "kim"]

    private static func current(_ gateway: RunningGateway, _ resource: String, _ id: Int) async throws -> JSON? {
        let answer = try await gateway.get("/v1/records/\(resource)/\(id)", as: Photos.boss)
        guard answer.status == 200 else { return nil }
        return try answer.json()[resource == "orders" ? "order" : "photo"]
    }

    /// Makes one random write.
    private static func write(_ gateway: RunningGateway, _ random: inout SeededRandom, foreign: Bool) async throws {
        let (order, photo) = (Int.random(in: 1...5, using: &random), Int.random(in: 1...7, using: &random))
        let name = technicians.randomElement(using: &random) ?? "ann"
        if foreign, Int.random(in: 0..<3, using: &random) == 0 {
            let sql = [
                "UPDATE orders SET technician = '\(name)' WHERE id = \(order);",
                "UPDATE photos SET order_id = (SELECT id FROM orders WHERE id = \(order)) WHERE id = \(photo);",
            ]
            try await gateway.database.run(sql[Int.random(in: 0..<2, using: &random)])
            return
        }
        let row = try await current(gateway, "orders", order)
        var edits: [String] = []
        switch (row, Int.random(in: 0..<6, using: &random)) {
        case (nil, _): edits = [Photos.creation("orders", "\(order)", #"{"technician":"\#(name)"}"#)]
        case (let row?, 0): edits = [Photos.deletion("orders", order, row.description)]
        case (let row?, 1...3):
            let old = row["technician"]?.description ?? "null"
            edits = [
                Photos.edit(
                    ["orders", "jobs"].randomElement(using: &random) ?? "jobs", order, "technician", old, #""\#(name)""#
                )
            ]
            if Bool.random(using: &random) {
                edits.append(Photos.edit("photos", photo, "caption", "null", #""\#(order)""#))
            }
        default: break
        }
        if edits.isEmpty || Bool.random(using: &random) {
            let old = try await current(gateway, "photos", photo)?["order"]?.description ?? "null"
            edits.append(Photos.edit("photos", photo, "order", old, row == nil ? "null" : "\(order)"))
        }
        _ = try await gateway.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#, as: Photos.boss)
    }

    /// The gateways that a client uses in turn.
    private struct Walk {
        let gateways: [RunningGateway]
        var followers: [Follower] = []

        init(_ gateways: RunningGateway...) async throws {
            self.gateways = gateways
            for (number, client) in [Photos.ann, Photos.bob, Photos.kim, Photos.ann].enumerated() {
                followers.append(try await Follower(client, gateways[number % gateways.count], of: "photos"))
            }
        }

        /// Makes writes, each through every gateway at once.
        func run(_ random: inout SeededRandom, foreign: Bool) async throws {
            for _ in 0..<(40 / gateways.count) {
                let seeds = gateways.map { _ in Int.random(in: 0..<1_000_000, using: &random) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (gateway, seed) in zip(gateways, seeds) {
                        group.addTask {
                            var own = SeededRandom(seed: seed)
                            try await ReferredWalkTests.write(gateway, &own, foreign: foreign)
                        }
                    }
                    try await group.waitForAll()
                }
                // The last follower was away.
                if Bool.random(using: &random) {
                    _ = try await followers[Int.random(in: 0..<3, using: &random)].poll()
                }
            }
        }

        /// Checks that each client's records equal a snapshot.
        func check(seed: Int, seconds: Int, waiting: Int) async throws {
            for gateway in gateways { _ = try await gateway.post("/v1/sync", "{}", as: Photos.boss) }
            for follower in followers {
                let whole = try await Follower(follower.client, gateways[0], of: "photos").records
                let end = ContinuousClock.now + .seconds(seconds)
                repeat {
                    _ = try await follower.poll(waiting: waiting)
                } while follower.records != whole && ContinuousClock.now < end
                #expect(follower.records == whole, "\(follower.client.name), seed \(seed)")
            }
        }
    }

    @Test(
        "Each client has the records of a snapshot after any writes", arguments: TestEngine.allCases, 0..<4)
    func pushesAndOtherPrograms(_ kind: TestEngine, _ seed: Int) async throws {
        let foreign = seed % 2 == 1
        try await Photos.with(kind, scans: foreign) { gateway in
            var random = SeededRandom(seed: seed)
            let walk = try await Walk(gateway)
            try await walk.run(&random, foreign: foreign)
            try await walk.check(seed: seed, seconds: foreign ? 30 : 1, waiting: foreign ? 1 : 0)
        }
    }

    @Test("The same with a journal that is written ahead", arguments: TestEngine.allCases, 4..<8)
    func writtenAhead(_ kind: TestEngine, _ seed: Int) async throws {
        let foreign = seed % 2 == 1
        try await Photos.with(kind, scans: foreign, journal: .ahead) { gateway in
            var random = SeededRandom(seed: seed)
            let walk = try await Walk(gateway)
            try await walk.run(&random, foreign: foreign)
            try await walk.check(seed: seed, seconds: 30, waiting: 1)
        }
    }

    @Test("The same through two gateways at once", .tags(.mariadb), .needsMariaDB, arguments: 8..<14)
    func twoGateways(_ seed: Int) async throws {
        let foreign = seed % 2 == 1
        let database = try await Photos.database(.mariadb)
        let configure: @Sendable (inout GatewayConfiguration) -> Void = { if foreign { ScanFixture.configure(&$0) } }
        try await Photos.run(on: database, configure: configure) { one in
            try await Photos.run(on: database, configure: configure) { two in
                if foreign { try await one.client(token: Photos.boss.secret) { try await $0.hasScanned() } }
                var random = SeededRandom(seed: seed)
                let walk = try await Walk(one, two)
                try await walk.run(&random, foreign: foreign)
                try await walk.check(seed: seed, seconds: 30, waiting: 1)
            }
        }
    }
}
