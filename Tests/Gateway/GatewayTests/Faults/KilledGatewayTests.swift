import Foundation
import Testing
import TestSupport

/// The gateway is killed at random moments of pushes, and each push is applied once all the same.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KilledGatewayTests {
    private static let clients = 4
    /// The number of kills; FIELDMERGE_TEST_KILLS changes it.
    private static let kills =
        ProcessInfo.processInfo.environment["FIELDMERGE_TEST_KILLS"].flatMap { Int($0) } ?? 12

    /// The journal shares the merge's transaction, or is written before it.
    enum Setup: String, CaseIterable, Sendable {
        case mariadb
        case mariadbWithJournalFile
        case sqlite
        case sqliteInWALMode

        var engine: TestEngine { self == .mariadb || self == .mariadbWithJournalFile ? .mariadb : .sqlite }

        func gateway(_ database: TestDatabase) async throws -> GatewayProcess {
            guard self == .mariadbWithJournalFile else {
                return try await GatewayProcess(database, rules: Ledger.rules)
            }
            return try await GatewayProcess(
                database, rules: Ledger.rules, options: ["--journal", "sqlite:" + database.journalFile],
                namesJournal: false)
        }

        static let possible = allCases.filter { TestEngine.allCases.contains($0.engine) }
    }

    @Test("Each push is applied once", arguments: Setup.possible)
    func kills(_ setup: Setup) async throws {
        let database = try await Ledger.database(setup.engine)
        if setup == .sqliteInWALMode { try await database.run("PRAGMA journal_mode = WAL;") }
        let place = GatewayPlace()
        // Pushes that were sent during the start of a gateway do not count for its kill.
        let (events, event) = AsyncStream<StubbornClient.Event>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let kills = Counter()
        async let gateway = Self.killAndRestart(setup, database, place, events, kills)
        let client = StubbornClient(place: place, events: event)
        let isOver = Counter()
        async let followed = StubbornFollower(place: place).follow { isOver.value > 0 }
        // Some kills have to hit running pushes.
        let settled = try await client.settle(clients: Self.clients, pushes: 30) {
            kills.value >= Self.kills && client.disturbed.value >= Self.kills / 3
        }
        let last = try await gateway
        isOver.increase()
        #expect(try Ledger.rows(try await followed.records) == (try await Ledger.rows(database)))
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: settled.map(\.push)))
        try await HTTPClient.with(port: last.port) { client async throws in
            #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
        }
    }

    /// - Returns: the gateway that runs in the end.
    private static func killAndRestart(
        _ setup: Setup, _ database: TestDatabase, _ place: GatewayPlace, _ events: AsyncStream<StubbornClient.Event>,
        _ kills: Counter
    ) async throws -> GatewayProcess {
        var random = SeededRandom(seed: 11)
        var sent = events.filter { $0 == .sent }.makeAsyncIterator()
        while true {
            let gateway: GatewayProcess
            do {
                gateway = try await setup.gateway(database)
            } catch {
                await place.fail(error)
                throw error
            }
            await place.open(gateway.port)
            for _ in 0..<Int.random(in: 1...8, using: &random) where await sent.next() == nil {
                return gateway
            }
            // The moment of the fault is anywhere in the pushes that are under way: some turns of the clients later.
            for _ in 0..<Int.random(in: 0...60, using: &random) { await Task.yield() }
            await place.close()
            gateway.kill()
            kills.increase()
        }
    }
}
