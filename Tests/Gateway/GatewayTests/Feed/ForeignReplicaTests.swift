import Foundation
import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// A client that follows the feed gets a copy of the database, though other programs write to it.
@Suite(.timeLimit(.minutes(5))) struct ForeignReplicaTests {
    /// Seeds of a run.
    ///
    /// FIELDMERGE_TEST_SEEDS sets their number.
    private static let seeds =
        0..<(ProcessInfo.processInfo.environment["FIELDMERGE_TEST_SEEDS"].flatMap { Int($0) } ?? 2)

    private static func push(_ gateway: RunningGateway, _ count: Int, seed: Int) async throws {
        try await gateway.client { client async throws in
            var random = SeededRandom(seed: seed)
            for _ in 0..<count {
                let name = ["\"x\"", "\"y\""].randomElement(using: &random) ?? "null"
                let id = Int.random(in: 1...6, using: &random)
                let edit =
                    Bool.random(using: &random)
                    ? FeedFixture.edit("things", id, "name", "\"?\"", name)
                    : FeedFixture.edit("homes", id % 3 + 1, "name", "\"?\"", name)
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edit)]}"#)
                try #require([200, 409, 422, 503].contains(answer.status), "\(answer.text)")
            }
        }
    }

    private static func follow(
        _ gateway: RunningGateway, until isOver: @escaping @Sendable () -> Bool, seed: Int
    ) async throws -> ForeignFollower {
        try await gateway.client { client async throws in
            var follower = ForeignFollower(seed: seed)
            while !isOver() { _ = try await follower.step(client) }
            return follower
        }
    }

    /// Two gateways, one of which scans.
    ///
    /// Some clients write through them, some to the database.
    @Test("Copies equal the database, with the scan", arguments: TestEngine.allCases, seeds)
    func scannedReplicas(_ kind: TestEngine, _ seed: Int) async throws {
        let database = try await TestDatabase(
            kind, mariadb: ForeignWriter.sql(.mariadb), sqlite: ForeignWriter.sql(.sqlite))
        try await Self.compareReplicas(of: database, seed)
    }

    /// The same with changes from the binary log, in all forms that rows have there, and without a cycle of the scan.
    @Test("Copies equal the database, with the binary log", .tags(.mariadb), .needsMariaDB, arguments: seeds)
    func loggedReplicas(_ seed: Int) async throws {
        let database = try await BinlogFixture.database(ForeignWriter.sql(.mariadb))
        try await Self.compareReplicas(of: database, seed + 50, log: .expected)
    }

    /// The forms of a logged transaction, and one in ten that is logged as statements.
    private static let forms =
        ["FULL", "FULL", "FULL", "FULL", "FULL", "FULL", "NOBLOB", "MINIMAL", "MINIMAL"].map {
            "SET SESSION binlog_row_image = '\($0)';"
        } + ["SET SESSION binlog_format = 'MIXED';"]

    private static func compareReplicas(
        of database: TestDatabase, _ seed: Int, log: RowLogUse? = nil
    ) async throws {
        let kind = database.kind
        try await RunningGateway.withTwo(
            database, rules: FeedFixture.rules,
            configure: { configuration in
                ScanFixture.configure(&configuration)
                if let log { configuration.foreignLog = log }
            }
        ) { first, second async throws in
            try await first.client { client async throws in
                try await log == nil ? client.hasScanned() : client.followsLog()
            }
            let ended = Counter()
            let writers = 3
            var followers: [ForeignFollower] = []
            try await withThrowingTaskGroup(of: ForeignFollower?.self) { group in
                for number in 0..<writers {
                    group.addTask {
                        defer { ended.increase() }
                        if number == 0 {
                            try await Self.push(first, 40, seed: seed)
                        } else {
                            var stranger = ForeignWriter(
                                database, seed: 10 * seed + number, forms: log == nil ? [] : Self.forms)
                            try await stranger.write(80)
                        }
                        return nil
                    }
                }
                for number in 0..<3 {
                    group.addTask {
                        try await Self.follow(
                            number == 0 ? first : second, until: { ended.value == writers }, seed: seed + number)
                    }
                }
                for try await follower in group { if let follower { followers.append(follower) } }
            }
            let truth = try await first.client { client async throws in try await client.held() }
            try await withThrowingTaskGroup(of: [String: String].self) { group in
                for follower in followers {
                    group.addTask {
                        try await second.client { client async throws in
                            var last = follower
                            try await last.catchUp(client, with: truth)
                            return last.records
                        }
                    }
                }
                for try await records in group { #expect(records == truth, "seed \(seed)") }
            }
            let scanning = try await withThrowingTaskGroup(of: Int.self) { group in
                for gateway in [first, second] {
                    group.addTask {
                        try await gateway.client { try await $0.metric("fieldmerge_scan_scanning") }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(scanning == (kind == .sqlite ? 2 : 1), "one gateway scans, which takes both parts on SQLite")
        }
    }

    @Test("The scanning gateway may be killed at any time", arguments: TestEngine.allCases)
    func killedScanners(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: ForeignWriter.sql(.mariadb), sqlite: ForeignWriter.sql(.sqlite))
        try await Self.killGateways(of: database)
    }

    @Test("The gateway that reads the log may be killed at any time", .tags(.mariadb), .needsMariaDB)
    func killedReaders() async throws {
        let database = try await BinlogFixture.database(ForeignWriter.sql(.mariadb))
        try await Self.killGateways(of: database, changes: "binlog")
    }

    private static func killGateways(of database: TestDatabase, changes: String = "scan") async throws {
        try await database.initJournal()
        let kills = ProcessInfo.processInfo.environment["FIELDMERGE_TEST_KILLS"].flatMap { Int($0) } ?? 6
        var gateway = try await Self.start(database, changes)
        try await HTTPClient.with(port: gateway.port) { try await $0.hasScanned() }
        var follower = ForeignFollower(seed: 5)
        var random = SeededRandom(seed: 7)
        for number in 0..<kills {
            let port = gateway.port
            async let written: Void = Self.write(database, 15, seed: number)
            let steps = Int.random(in: 1...12, using: &random)
            let before = follower
            follower = try await HTTPClient.with(port: port) { client async throws in
                var next = before
                for _ in 0..<steps { _ = try await next.step(client) }
                return next
            }
            for _ in 0..<Int.random(in: 0...200, using: &random) { await Task.yield() }
            gateway.kill()
            try await written
            // The next gateway does not have to wait for the lease of the killed one.
            try await database.runOnJournal("UPDATE scan SET until = NULL;")
            gateway = try await Self.start(database, changes)
        }
        let port = gateway.port
        let last = follower
        let (records, truth) = try await HTTPClient.with(port: port) { client async throws in
            let truth = try await client.held()
            var last = last
            try await last.catchUp(client, with: truth)
            return (last.records, truth)
        }
        // It runs until here.
        gateway.kill()
        #expect(records == truth)
    }

    private static func start(_ database: TestDatabase, _ changes: String) async throws -> GatewayProcess {
        try await GatewayProcess(
            database, rules: FeedFixture.rules, options: ["--scan-rows-per-second", "1000000", "--changes", changes])
    }

    private static func write(_ database: TestDatabase, _ count: Int, seed: Int) async throws {
        var stranger = ForeignWriter(database, seed: seed)
        try await stranger.write(count)
    }
}
