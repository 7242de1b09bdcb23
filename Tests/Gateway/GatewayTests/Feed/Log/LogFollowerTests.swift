import MergeCore
import MergeService
import Operations
import RecordStore
import Synchronization
import Testing
import TestSupport

@testable import ChangeFeed

/// The reader of a row log: its start, the passes that it requests, and its stored data.
@Suite(.timeLimit(.minutes(1))) struct LogFollowerTests {
    private typealias Events = AsyncStream<LogFollower.Event>

    private struct World {
        let database: TestDatabase
        let journal: Journal
        let log = ScriptedLog()
        let stage = Stage()
        let agenda = PassAgenda()
        let lease: ScanLease
        let recorder: ForeignChangeRecorder

        init() async throws {
            database = try await TestDatabase(.sqlite, mariadb: "", sqlite: LoggedOrders.sql)
            let engine = try database.engine(journal: true, on: stage)
            let journal = try await JournalOpener(engine: engine, schema: JournalTables.attachedName).open()
            self.journal = journal
            lease = try #require(try await ScanDesk(journal: journal, gateway: "a").take().lease)
            recorder = ForeignChangeRecorder(
                engine: engine, rows: SectionRows(engine: engine, hashKey: journal.hashKey),
                feed: ChangeFeed(journal: { journal }), journal: journal)
        }

        /// Runs a reader while `body` runs.
        func follow(
            watchPause: Duration = .seconds(1), _ body: (inout Events.Iterator) async throws -> Void
        ) async throws {
            let (events, report) = Events.makeStream()
            let follower = LogFollower(
                log: log, recorder: recorder, agenda: agenda, lease: lease, units: LoggedOrders.units, pause: .zero,
                refusedPause: .zero, watchPause: watchPause
            ) { report.yield($0) }
            let reading = Task {
                await follower.run()
                report.finish()
            }
            defer { reading.cancel() }
            var next = events.makeAsyncIterator()
            try await body(&next)
            reading.cancel()
            await reading.value
        }

        func stored() async throws -> LogProgress? {
            let tables = journal.tables.feed
            return try await journal.engine.read(deadline: .now + .seconds(30)) { session throws(StoreError) in
                tables.logProgress(try session.query(tables.logProgress))
            }
        }

        func store(_ progress: LogProgress) async throws {
            _ = try await recorder.record([], storing: journal.tables.feed.keep(progress), under: lease)
        }

        /// Ends all demands, and returns the sections that they named.
        func fulfil() -> Set<String> {
            let demands = LoggedOrders.units.compactMap { unit in
                agenda.demand(for: unit.name).map { (unit.name, $0) }
            }
            for (name, demand) in demands { agenda.fulfil(demand, for: name, now: .now) }
            return Set(demands.map(\.0))
        }
    }

    private static let all = Set(LoggedOrders.units.map(\.name))
    private static let order = [Value?.some(.integer(1))]

    private static func changed(_ table: Int) -> LoggedTransaction {
        LoggedTransaction(changes: [LoggedChange(table: table, before: order, after: order)])
    }

    private static func stops(_ events: inout Events.Iterator) async -> String? {
        while let event = await events.next() { if case .stopped(let reason) = event { return reason } }
        return nil
    }

    private static func follows(_ events: inout Events.Iterator) async -> Bool {
        while let event = await events.next() { if case .following = event { return true } }
        return false
    }

    @Test("A log that is refused again and again demands no pass", arguments: [false, true])
    func refusedLog(_ hasStored: Bool) async throws {
        let world = try await World()
        if hasStored { try await world.store(LogProgress(position: "1", needsPasses: true)) }
        world.log.open(next: .refused("no"), .refused("no"), .refused("never"))
        try await world.follow { events async throws in
            for expected in ["no", "no", "never"] {
                #expect(await Self.stops(&events) == expected)
                #expect(world.fulfil() == [])
            }
        }
        #expect(try await world.stored() == (hasStored ? LogProgress(position: "1", needsPasses: true) : nil))
    }

    @Test("A first reader stores the end of the log, then demands all passes")
    func firstReader() async throws {
        let world = try await World()
        world.log.send(position: 2)
        try await world.follow { events async throws in
            #expect(await Self.follows(&events))
            #expect(world.log.opened == ["1"])
            #expect(try await world.stored() == LogProgress(position: "1", needsPasses: true))
            #expect(world.fulfil() == Self.all)
        }
    }

    @Test("A later reader continues, and demands passes only if an earlier one needed some", arguments: [false, true])
    func laterReader(_ needsPasses: Bool) async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "7", needsPasses: needsPasses))
        world.log.send(position: 8)
        try await world.follow { events async throws in
            #expect(await Self.follows(&events))
            #expect(world.log.opened == ["7"])
            #expect(world.fulfil() == (needsPasses ? Self.all : []))
        }
    }

    @Test("A connection that breaks leads to no further demand")
    func brokenConnection() async throws {
        let world = try await World()
        world.log.send(position: 2)
        try await world.follow { events async throws in
            #expect(await Self.follows(&events))
            #expect(world.fulfil() == Self.all)
            world.log.fail(.failed(StoreError(.disconnected, "broken")))
            #expect(await Self.stops(&events) == StoreError(.disconnected, "broken").description)
            world.log.send(position: 3)
            #expect(await Self.follows(&events))
            #expect(world.fulfil() == [])
        }
        #expect(world.log.opened == ["1", "1"])
    }

    @Test("A position that the server lacks leads to the end of the log and all passes")
    func unusablePosition() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "7", needsPasses: false))
        world.log.setEnd(9)
        world.log.open(next: .unusablePosition("purged"), .refused("no"), nil)
        world.log.send(position: 10)
        try await world.follow { events async throws in
            #expect(await Self.stops(&events)?.contains("purged") == true)
            #expect(await Self.stops(&events) == "no")
            #expect(await Self.follows(&events))
            #expect(world.fulfil() == Self.all)
        }
        #expect(world.log.opened == ["7", "9", "9"])
        #expect(try await world.stored()?.position == "9")
    }

    @Test("A log that begins again ends the reader that waits for it")
    func restartedLog() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "7", needsPasses: false))
        world.log.setEnd(7)
        world.log.send(position: 8)
        try await world.follow(watchPause: .milliseconds(1)) { events async throws in
            #expect(await Self.follows(&events))
            world.log.setEnd(2)
            #expect(await Self.stops(&events)?.contains("begun again") == true)
            world.log.send(position: 3)
            #expect(await Self.follows(&events))
            #expect(world.fulfil() == Self.all)
        }
        #expect(world.log.opened == ["7", "2"])
    }

    @Test("A change is recorded with its position, once")
    func recordedChange() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "1", needsPasses: false))
        world.log.send(Self.changed(1), Self.changed(1), position: 2)
        try await world.follow { events async throws in
            while let event = await events.next() {
                guard case .recorded(let count) = event else { continue }
                #expect(count == 1)
                break
            }
            #expect(try await world.stored() == LogProgress(position: "2", needsPasses: false))
            #expect(world.fulfil() == [])
        }
    }

    @Test("A transaction without its rows leads to a pass, which the stored position names")
    func incompleteTransaction() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "1", needsPasses: false))
        world.log.send(LoggedTransaction(incomplete: [1]), position: 2)
        try await world.follow { events async throws in
            #expect(await Self.follows(&events))
            #expect(try await world.stored() == LogProgress(position: "2", needsPasses: true))
            #expect(world.fulfil() == ["orders/order"])
        }
    }

    /// Before that commit, the change may be in the log and not be visible yet.
    @Test("A pass is demanded only after a commit that follows the change")
    func demandAfterCommit() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "1", needsPasses: false))
        let early = Mutex(0)
        let agenda = world.agenda
        world.stage.beforeCommit { if agenda.demand(for: "orders/order") != nil { early.withLock { $0 += 1 } } }
        world.log.send(LoggedTransaction(incomplete: [1]), position: 2)
        try await world.follow { events async throws in
            #expect(await Self.follows(&events))
            #expect(world.fulfil() == ["orders/order"])
        }
        #expect(early.withLock { $0 } == 0)
    }

    @Test("An altered table has the log opened again after the alteration")
    func alteredTable() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "1", needsPasses: false))
        world.log.send(LoggedTransaction(incomplete: [1]), position: 4, alters: true)
        world.log.send(Self.changed(1), position: 5)
        try await world.follow { events async throws in
            var hasAltered = false
            while let event = await events.next() {
                if case .alteredTable = event { hasAltered = true }
                if case .recorded = event { break }
            }
            #expect(hasAltered && world.log.opened == ["1", "4"])
        }
    }

    @Test("A reader without the lease records nothing and ends")
    func lostLease() async throws {
        let world = try await World()
        try await world.store(LogProgress(position: "1", needsPasses: false))
        try await world.database.runOnJournal("UPDATE scan SET holder = 'b', term = term + 1;")
        world.log.send(Self.changed(1), position: 2)
        try await world.follow { events async throws in
            while let event = await events.next() {
                if case .recorded = event { Issue.record("recorded without the lease") }
            }
        }
        #expect(try await world.stored()?.position == "1")
    }
}
