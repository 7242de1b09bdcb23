import MergeCore
import MergeService
import Operations
import RecordStore
import Synchronization
import Testing
import TestSupport

@testable import ChangeFeed

/// Each committed change gets a revision in the order of commits, and no other change gets one.
@Suite struct SequencingTests {
    private static func open(_ kind: TestEngine) async throws -> (TestDatabase, any RecordEngine, Journal) {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        try await database.initJournal()
        let engine = try database.engine(journal: true)
        let schema = kind == .sqlite ? JournalTables.attachedName : database.journalName
        return (database, engine, try await JournalOpener(engine: engine, schema: schema).open())
    }

    private static var deadline: ContinuousClock.Instant { .now + .seconds(30) }

    private static func run(_ record: String) -> PendingRun {
        PendingRun(changes: [
            PendingRun.Change(
                position: 0, name: RecordName(resource: "homes", record: record), sender: Sender(who: "", device: nil))
        ])
    }

    private static func insert(_ record: String, _ journal: Journal, _ engine: any RecordEngine) async throws {
        try await engine.write(deadline: deadline) { session throws(StoreError) in
            _ = try session.execute(journal.tables.feed.insert(run(record), first: 1))
            return .commit(())
        }
    }

    private static func reported(_ journal: Journal, _ engine: any RecordEngine) async throws -> [String] {
        try await engine.read(deadline: deadline) { session throws(StoreError) in
            let feed = journal.tables.feed
            return try session.query(feed.changes(since: 0, upTo: .max, resources: nil, limit: 10_000))
                .compactMap { feed.change($0)?.name.record }
        }
    }

    /// A row of `pending` gets its number before its commit, so a late commit has a lower number than rows that already
    /// have revisions.
    @Test("A change that commits late is reported", arguments: [false, true])
    func lateCommit(_ isMutant: Bool) async throws {
        let (database, engine, journal) = try await Self.open(.mariadb)
        let look = FeedLook(journal: journal, gateway: "a")
        let slow = try database.session()
        let bytes = Hex.encode(Self.run("slow").bytes)
        _ = try await slow.run("BEGIN;")
        _ = try await slow.run(
            "INSERT INTO \(database.journalName).pending (first, step, records) VALUES (1, 1, X'\(bytes)');")
        try await Self.insert("quick", journal, engine)
        let highest = try #require(try await look.sequence(after: 0, until: Self.deadline))
        #expect(try await Self.reported(journal, engine) == ["quick"])
        _ = try await slow.run("COMMIT;")
        // The mutant reads only numbers above the highest known one: `id > since`.
        _ = try await look.sequence(after: isMutant ? highest : 0, until: Self.deadline)
        #expect(try await Self.reported(journal, engine) == (isMutant ? ["quick"] : ["quick", "slow"]))
        slow.end()
        await engine.close()
        withExtendedLifetime(database) {}
    }

    @Test("Every few seconds all pending rows are read")
    func wholeReads() {
        var numbers = SequencedNumbers()
        let start = ContinuousClock.now
        #expect(numbers.start(now: start) == 0)
        numbers.note(10, now: start)
        numbers.note(11, now: start + .milliseconds(10))
        #expect(numbers.start(now: start + .seconds(1)) == 0)
        #expect(numbers.start(now: start + .seconds(61)) == 0, "after a while every look does")
        #expect(numbers.start(now: start + .seconds(62)) == 10)
        #expect(numbers.start(now: start + .seconds(67)) == 0)
    }

    @Test("Each committed row gets one revision, whatever the order of commits")
    func histories() {
        let failed = Histories.run(0..<Histories.count(3_000)) { SequencingWorld(&$0) }
        #expect(failed == nil, "\(failed?.description ?? "")")
    }

    /// A gateway that assigns revisions locks the counter.
    @Test("Several gateways assign each revision once", arguments: TestEngine.allCases)
    func severalGateways(_ kind: TestEngine) async throws {
        let (database, engine, journal) = try await Self.open(kind)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<40 { try await Self.insert("\(writer).\(number)", journal, engine) }
                }
            }
            for name in ["a", "b", "c"] {
                group.addTask {
                    let look = FeedLook(journal: journal, gateway: name)
                    for _ in 0..<25 { _ = try await look.sequence(after: 0, until: Self.deadline) }
                }
            }
            try await group.waitForAll()
        }
        _ = try await FeedLook(journal: journal, gateway: "d").sequence(after: 0, until: Self.deadline)
        let reported = try await Self.reported(journal, engine)
        #expect(Set(reported) == Set((0..<4).flatMap { writer in (0..<40).map { "\(writer).\($0)" } }))
        #expect(reported.count == 160)
        for writer in 0..<4 {
            let own = reported.filter { $0.hasPrefix("\(writer).") }
            #expect(own == (0..<40).map { "\(writer).\($0)" }, "what was acknowledged first has the lower revision")
        }
        let state = try await FeedLook(journal: journal, gateway: "e").find(pendingAfter: 0, until: Self.deadline)
        #expect(state.firstPending == nil && state.state.revision == FeedTables.beginning + 160)
        await engine.close()
        withExtendedLifetime(database) {}
    }

    /// Rows of journals that older gateways began have digests that the database made.
    @Test("The digests of names equal those of older gateways")
    func oldDigests() async throws {
        let (database, engine, journal) = try await Self.open(.mariadb)
        let records = ["1", "tmp,-3", "%C3%A4%20b", String(repeating: "k", count: 700), "a/b"]
        for record in records { try await Self.insert(record, journal, engine) }
        _ = try await FeedLook(journal: journal, gateway: "a").sequence(after: 0, until: Self.deadline)
        #expect(
            try await database.runOnJournal(
                """
                SELECT COUNT(*), SUM(name = UNHEX(LEFT(SHA2(CONCAT(resource, '/', record), 256), 32))) FROM changes;
                """) == "5\t5\n")
        await engine.close()
        withExtendedLifetime(database) {}
    }

    @Test("A record that changes again has a new revision", arguments: TestEngine.allCases)
    func changedAgain(_ kind: TestEngine) async throws {
        let (database, engine, journal) = try await Self.open(kind)
        let look = FeedLook(journal: journal, gateway: "a")
        for record in ["1", "2", "1", "3"] { try await Self.insert(record, journal, engine) }
        _ = try await look.sequence(after: 0, until: Self.deadline)
        #expect(try await Self.reported(journal, engine) == ["2", "1", "3"])
        try await Self.insert("2", journal, engine)
        _ = try await look.sequence(after: 0, until: Self.deadline)
        #expect(try await Self.reported(journal, engine) == ["1", "3", "2"])
        await engine.close()
        withExtendedLifetime(database) {}
    }

    @Test("If the gateway that assigns revisions hangs, another one continues soon")
    func hangingHolder() async throws {
        let (database, engine, journal) = try await Self.open(.mariadb)
        try await database.runOnJournal(
            "UPDATE feed SET holder = 'gone', until = UTC_TIMESTAMP(6) + INTERVAL 50 SECOND;")
        try await Self.insert("1", journal, engine)
        let feed = ChangeFeed(journal: { journal })
        var looks = 0
        while try await Self.reported(journal, engine).isEmpty, looks < 10 {
            _ = try await feed.look()
            looks += 1
        }
        #expect(looks == PendingWatch.patience)
        // If a client of this gateway waits, the gateway does not wait for the holder.
        try await database.runOnJournal(
            "UPDATE feed SET holder = 'gone', until = UTC_TIMESTAMP(6) + INTERVAL 50 SECOND;")
        try await Self.insert("2", journal, engine)
        #expect(try await feed.catchUp()?.revision == FeedTables.beginning + 2)
        await engine.close()
        withExtendedLifetime(database) {}
    }

    @Test("Revisions that another gateway assigns meanwhile are reported", arguments: TestEngine.allCases)
    func overtaken(_ kind: TestEngine) async throws {
        let (database, engine, journal) = try await Self.open(kind)
        let quick = ChangeFeed(journal: { journal })
        let overtaken = OvertakenEngine(engine) { _ = try? await quick.catchUp() }
        let slow = ChangeFeed(journal: {
            Journal(tables: journal.tables, codec: journal.codec, together: overtaken, hashKey: journal.hashKey)
        })
        _ = try await slow.look()
        try await Self.insert("1", journal, engine)
        overtaken.begin()
        #expect(try await slow.catchUp()?.revision == FeedTables.beginning + 1)
        #expect(overtaken.times == 1)
        await engine.close()
        withExtendedLifetime(database) {}
    }

    @Test("After a failed run, the next one is as urgent, because the client still waits")
    func failedLook() async throws {
        let (database, engine, journal) = try await Self.open(.mariadb)
        try await database.runOnJournal(
            "UPDATE feed SET holder = 'another', until = UTC_TIMESTAMP(6) + INTERVAL 50 SECOND;")
        try await Self.insert("1", journal, engine)
        let broken = OvertakenEngine(engine, fails: true) {}
        let feed = ChangeFeed(journal: {
            Journal(tables: journal.tables, codec: journal.codec, together: broken, hashKey: journal.hashKey)
        })
        broken.begin()
        await #expect(throws: StoreError.self) { try await feed.catchUp() }
        #expect(try await feed.look()?.revision == FeedTables.beginning + 1)
        await engine.close()
        withExtendedLifetime(database) {}
    }

    /// A gateway reports revisions of another gateway only after its own later commit.
    @Test("Revisions of another gateway are confirmed before they are reported")
    func confirmed() async throws {
        let (database, engine, journal) = try await Self.open(.mariadb)
        let first = ChangeFeed(journal: { journal })
        let second = ChangeFeed(journal: { journal })
        try await Self.insert("1", journal, engine)
        let given = try #require(try await first.catchUp()).revision
        #expect(try await second.look()?.revision == given)
        let confirmed = try await database.runOnJournal("SELECT confirmed FROM gateways;")
        #expect(confirmed == "\(given)\n\(given)\n")
        await engine.close()
        withExtendedLifetime(database) {}
    }

    // MARK: Forms

    @Test("A run is read as it was written")
    func forms() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            let run = PendingRun(
                changes: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    PendingRun.Change(
                        position: Int.random(in: 0...100_000, using: &random),
                        name: RecordName(
                            resource: String(repeating: "r", count: Int.random(in: 0...300, using: &random)),
                            record: ["", "1", "a%20b,c", "é"].randomElement(using: &random) ?? ""),
                        sender: Sender(
                            who: ["", "tablet"].randomElement(using: &random) ?? "",
                            device: [nil, "", "d", String(repeating: "ü", count: 255)].randomElement(using: &random)
                                ?? nil))
                })
            #expect(PendingRun(bytes: run.bytes) == run)
            if run.bytes.count > 1 { #expect(PendingRun(bytes: Array(run.bytes.dropLast())) != run) }
        }
    }
}

/// An engine that runs a block before the next writing transaction, to simulate another gateway.
private final class OvertakenEngine: RecordEngine {
    private let engine: any RecordEngine
    private let meanwhile: @Sendable () async -> Void
    /// The transaction itself fails.
    private let fails: Bool
    private let state = Mutex((isArmed: false, times: 0))

    init(_ engine: any RecordEngine, fails: Bool = false, _ meanwhile: @escaping @Sendable () async -> Void) {
        self.engine = engine
        self.fails = fails
        self.meanwhile = meanwhile
    }

    /// Runs it once, before the next statement.
    func begin() { state.withLock { $0.isArmed = true } }

    /// Number of times that it has happened.
    var times: Int { state.withLock { $0.times } }

    var dialect: any Dialect { engine.dialect }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let isNow = state.withLock { state in
            guard purpose == .write, state.isArmed else { return false }
            state = (false, state.times + 1)
            return true
        }
        if isNow {
            await meanwhile()
            if fails { throw StoreError(.unavailable, "as the test wants") }
        }
        return try await engine.withConnection(for: purpose, deadline: deadline, body)
    }

    func close() async { await engine.close() }
}
