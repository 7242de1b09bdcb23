import MergeService
import RecordStore
import Synchronization
import Testing
import TestSupport

/// The right to delete old entries: a gateway that stops releases it, and a jump of the clock does no harm.
@Suite(.timeLimit(.minutes(2))) struct LeaseTests {
    @Test("A gateway that stops releases the lease", arguments: TestEngine.allCases)
    func stop(_ kind: TestEngine) async throws {
        let database = try await Ledger.database(kind)
        let lease = "SELECT value <> '', until IS NOT NULL FROM meta WHERE name = 'prune';"
        for _ in 0..<2 {
            let gateway = try await GatewayProcess(database, rules: Ledger.rules)
            while try await database.runOnJournal(lease) != "1\t1\n" {}
            #expect(await gateway.stop() == 0)
            #expect(try await database.runOnJournal(lease) == "0\t0\n")
        }
    }

    /// The stopwatch of a machine.
    ///
    /// The test changes its clock by changing the ages in the journal.
    private static func pruning(_ old: OldJournal, _ stopwatch: Stopwatch) -> JournalPruning {
        JournalPruning(
            journal: old.journal, keyDays: 30, entryDays: 400, owner: "one", stopwatch: { stopwatch })
    }

    /// Makes everything in the journal so many days older, its reading of the clock too.
    private static func age(_ old: OldJournal, days: Int) async throws {
        let clock = try await old.database.runOnJournal("SELECT value FROM meta WHERE name = 'clock';")
        let parts = clock.dropLast().split(separator: " ").map(String.init)
        let seconds = (Int(parts[0]) ?? 0) - days * 86_400
        let at =
            old.database.kind == .mariadb
            ? "at - INTERVAL \(days) DAY" : "strftime('%Y-%m-%d %H:%M:%f', at, '-\(days) days')"
        try await old.database.runOnJournal(
            """
            UPDATE meta SET value = '\(seconds) \(parts[1]) \(parts[2])' WHERE name = 'clock';
            UPDATE entries SET at = \(at);
            """)
    }

    /// A clock that jumps ahead makes nothing older than it is.
    @Test("A jump of the clock deletes no key", arguments: TestEngine.allCases)
    func clockJump(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(10, days: 1)
        #expect(try await Self.pruning(old, Stopwatch(boot: "a", seconds: 1_000)).run() == 0)
        try await Self.age(old, days: 500)
        for seconds in [1_600, 2_200] {
            #expect(try await Self.pruning(old, Stopwatch(boot: "a", seconds: seconds)).run() == 0)
            #expect(try await old.counts() == "10\t10\t10\n")
        }
        // Once the age of keys has passed since the jump they are as old as that in any case.
        let jump = try await old.database.runOnJournal("SELECT value FROM meta WHERE name = 'clock-jump';")
        let parts = jump.dropLast().split(separator: " ").map(String.init)
        try await old.database.runOnJournal(
            "UPDATE meta SET value = '\((Int(parts[0]) ?? 0) - 31 * 86400) \(parts[1])' WHERE name = 'clock-jump';")
        #expect(try await Self.pruning(old, Stopwatch(boot: "a", seconds: 2_300)).run() == 0)
        #expect(try await old.counts() == "10\t0\t0\n")
    }

    /// Time that has passed by both is no jump, nor is a machine that was off over a weekend.
    @Test("Time that passes is not a jump", arguments: [("a", 40 * 86_400, 40), ("b", 5, 3)])
    func time(_ boot: String, _ passed: Int, _ days: Int) async throws {
        let old = try await OldJournal(.sqlite)
        try await old.add(10, days: 28)
        #expect(try await Self.pruning(old, Stopwatch(boot: "a", seconds: 1_000)).run() == 0)
        #expect(try await old.counts() == "10\t10\t10\n")
        try await Self.age(old, days: days)
        #expect(try await Self.pruning(old, Stopwatch(boot: boot, seconds: 1_000 + passed)).run() == 0)
        #expect(try await old.counts() == "10\t0\t0\n")
    }

    /// If the time that the machine was off is unknown, a long time may be a jump.
    @Test("A long absence may be a jump")
    func absence() async throws {
        let old = try await OldJournal(.sqlite)
        try await old.add(10, days: 1)
        #expect(try await Self.pruning(old, Stopwatch(boot: "a", seconds: 1_000)).run() == 0)
        try await Self.age(old, days: 100)
        #expect(try await Self.pruning(old, Stopwatch(boot: "b", seconds: 5)).run() == 0)
        #expect(try await old.counts() == "10\t10\t10\n")
    }
}
