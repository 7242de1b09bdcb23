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

    /// Another program moves a referred row, a push edits a record behind it, and another program deletes the record.
    ///
    /// The source of foreign changes reads the rows only after all three.
    private static func movedEditedDeleted(_ gateway: RunningGateway) async throws {
        let ann = try await Follower(Photos.ann, gateway, of: "photos")
        let bob = try await Follower(Photos.bob, gateway, of: "photos")
        let hold = try await ScanHold(gateway.database)
        try await gateway.database.run("UPDATE orders SET technician = 'bob' WHERE id = 1;")
        try await gateway.write(Photos.edit("photos", 1, "caption", #""a""#, #""A""#))
        try await gateway.database.run("DELETE FROM photos WHERE id = 1;")
        try await hold.end()
        _ = try await wait(ann, for: [4])
        _ = try await wait(bob, for: [2, 3])
    }

    @Test(
        "A record leaves its client although it was moved, edited and deleted at once", arguments: TestEngine.allCases)
    func scanOfDeletedRecord(_ kind: TestEngine) async throws {
        try await Photos.with(kind, scans: true) { gateway in try await Self.movedEditedDeleted(gateway) }
    }

    @Test("The row log shows such a record as gone", .tags(.mariadb), .needsMariaDB)
    func logOfDeletedRecord() async throws {
        let database = try await BinlogFixture.database(Photos.tables(.mariadb))
        try await Photos.run(on: database, configure: { ScanFixture.configure(&$0, log: .expected) }) { gateway in
            try await gateway.client(token: Photos.boss.secret) { client async throws in
                try await client.followsLog()
            }
            try await Self.movedEditedDeleted(gateway)
        }
    }

    @Test("The scan reports new and departing records of referred rows", arguments: TestEngine.allCases)
    func scan(_ kind: TestEngine) async throws {
        try await Photos.with(kind, scans: true) { gateway in try await Self.follow(gateway) }
    }

    @Test("The row log reports new and departing records of referred rows", .tags(.mariadb), .needsMariaDB)
    func rowLog() async throws {
        let database = try await BinlogFixture.database(Photos.tables(.mariadb))
        try await Photos.run(on: database, configure: { ScanFixture.configure(&$0, log: .expected) }) { gateway in
            try await gateway.client(token: Photos.boss.secret) { client async throws in
                try await client.followsLog()
            }
            try await Self.follow(gateway)
        }
    }
}
