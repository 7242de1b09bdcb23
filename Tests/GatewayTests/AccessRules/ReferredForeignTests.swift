import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// Other programs write referred rows, which decide about records.
@Suite(.timeLimit(.minutes(5))) struct ReferredForeignTests {
    typealias Follower = AccessFeedTests.Follower

    /// Polls until a client has exactly these records.
    private static func wait(_ follower: Follower, for ids: [Int]) async throws -> [Int] {
        var named: [Int] = []
        let end = ContinuousClock.now + .seconds(60)
        while follower.records.keys.sorted() != ids {
            guard ContinuousClock.now < end else {
                throw Shell.Failure(description: "has \(follower.records.keys.sorted()), wants \(ids)")
            }
            named += try await follower.poll(waiting: 2)
        }
        return named
    }

    private static func follow(_ gateway: RunningGateway) async throws {
        let ann = try await Follower(Photos.ann, gateway, of: "photos")
        let bob = try await Follower(Photos.bob, gateway, of: "photos")
        func write(_ sql: String, _ ofAnn: [Int], _ ofBob: [Int]) async throws -> [Int] {
            try await gateway.database.run(sql)
            _ = try await wait(ann, for: ofAnn)
            return try await wait(bob, for: ofBob)
        }
        _ = try await write("UPDATE orders SET technician = 'bob' WHERE id = 1;", [4], [1, 2, 3])
        _ = try await write("UPDATE photos SET order_id = 3 WHERE id = 2;", [2, 4], [1, 3])
        _ = try await write("UPDATE photos SET order_id = NULL WHERE id = 3;", [2, 4], [1])
        let new = try await write("INSERT INTO photos (id, order_id, caption) VALUES (9, 3, 'n');", [2, 4, 9], [1])
        #expect(!new.contains { abs($0) == 9 }, "\(new)")
        _ = try await write("DELETE FROM photos WHERE id = 4;", [2, 9], [1])
        _ = try await write("UPDATE orders SET technician = NULL WHERE id = 3;", [], [1])
        _ = try await write("UPDATE orders SET technician = 'ann' WHERE technician = 'bob';", [1], [])
        // A gateway's write after that of another program.
        try await gateway.write(Photos.hand(1, from: "ann", to: "bob"))
        _ = try await wait(ann, for: [])
        _ = try await wait(bob, for: [1])
    }

    @Test("The scan reports what comes and leaves with referred rows", arguments: TestEngine.allCases)
    func scan(_ kind: TestEngine) async throws {
        try await Photos.with(kind, scans: true) { gateway in try await Self.follow(gateway) }
    }

    @Test("The row log leads to what comes and leaves with referred rows", .tags(.mariadb), .needsMariaDB)
    func rowLog() async throws {
        let database = try await BinlogFixture.database(Photos.tables(.mariadb))
        try await Photos.run(on: database, configure: { ScanFixture.configure(&$0, log: .expected) }) { gateway in
            try await gateway.client(token: Photos.boss.secret) { client async throws in
                try await client.followsLog()
            }
            try await Self.follow(gateway)
        }
    }

    // MARK: A walk

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

    @Test("Every client has what a snapshot contains, after any writes", arguments: TestEngine.allCases, 0..<4)
    func walk(_ kind: TestEngine, _ seed: Int) async throws {
        let foreign = seed % 2 == 1
        try await Photos.with(kind, scans: foreign) { gateway in
            var random = SeededRandom(seed: seed)
            var followers: [Follower] = []
            for client in [Photos.ann, Photos.bob, Photos.kim, Photos.ann] {
                followers.append(try await Follower(client, gateway, of: "photos"))
            }
            for _ in 0..<40 {
                try await Self.write(gateway, &random, foreign: foreign)
                // The last follower was away.
                if Bool.random(using: &random) {
                    _ = try await followers[Int.random(in: 0..<3, using: &random)].poll()
                }
            }
            _ = try await gateway.post("/v1/sync", "{}", as: Photos.boss)
            for follower in followers {
                let whole = try await Follower(follower.client, gateway, of: "photos").records
                let end = ContinuousClock.now + .seconds(foreign ? 30 : 1)
                repeat {
                    _ = try await follower.poll(waiting: foreign ? 1 : 0)
                } while follower.records != whole
                    && ContinuousClock.now < end
                #expect(follower.records == whole, "\(follower.client.name), seed \(seed)")
            }
        }
    }
}
