import MergeCore
import MergeService
import RecordStore
import Testing
import TestSupport

/// Old keys and entries are deleted, by one gateway at a time and in small steps.
@Suite struct PruningTests {
    @Test("Each kind of row has a maximum age", arguments: TestEngine.allCases)
    func ages(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(1_203, days: 500)
        try await old.add(40, days: 200, isKeyAlone: true)
        try await old.add(700, days: 100)
        try await old.add(20, days: 29, isKeyAlone: true)
        try await old.add(10, days: 0)
        let engine = CountingEngine(old.engine)
        #expect(try await old.pruning(engine: engine).run() == 1_203)
        // The remaining entries older than the age of keys have no key, and are otherwise unchanged.
        #expect(try await old.counts() == "730\t30\t30\n")
        // Each transaction deletes one batch only.
        #expect(engine.writes.value > 2 * (1_203 + 40 + 700) / 500)
        #expect(try await old.pruning().run() == 0)
        #expect(try await old.counts() == "730\t30\t30\n")
    }

    @Test("One of two gateways deletes", arguments: TestEngine.allCases)
    func twoGateways(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await old.add(800, days: 500)
        async let one = old.pruning("one").run()
        async let two = old.pruning("two").run()
        let deleted = try await [one, two]
        #expect(deleted.count { $0 == nil } == 1)
        // The newest entry is kept, because its number shows that the journal did not go back.
        #expect(deleted.compactMap { $0 } == [799])
        // The gateway that deletes continues. The other one waits until the first has been inactive for a while.
        let (owner, other) = deleted[0] == nil ? ("two", "one") : ("one", "two")
        try await old.add(5, days: 500)
        #expect(try await old.pruning(other).run() == nil)
        #expect(try await old.pruning(owner).run() == 5)
        try await old.database.runOnJournal("UPDATE meta SET until = \(old.moment(-1)) WHERE name = 'prune';")
        #expect(try await old.pruning(other).run() == 0)
        #expect(try await old.pruning(owner).run() == nil)
    }

    /// The push is merged again, and the old entry is kept.
    @Test("A deleted key can be used again", arguments: TestEngine.allCases)
    func oldKey(_ kind: TestEngine) async throws {
        let old = try await OldJournal(kind)
        try await RunningGateway.with(old.database, rules: Ledger.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let push = Ledger.Push(label: "p", account: 1, points: 5)
                let other = Ledger.Push(label: "q", account: 2, points: 1)
                let first = try await client.post("/v1/push", push.body())
                try await old.database.runOnJournal("UPDATE entries SET at = \(old.moment(-31));")
                let second = try await client.post("/v1/push", other.body())
                #expect(try await old.pruning().run() == 0)
                #expect(try await client.post("/v1/push", other.body()).body == second.body)
                #expect(try await client.get("/v1/journal").json()["entries"]?.array.count == 4)
                let again = try await client.post("/v1/push", push.body())
                #expect(again.status == 200 && again.body != first.body)
                #expect(try await old.database.run("SELECT points FROM accounts WHERE id = 1;") == "10\n")
            }
        }
    }
}

/// Counts transactions that write.
private struct CountingEngine: RecordEngine {
    private let engine: any RecordEngine
    let writes = Counter()

    init(_ engine: any RecordEngine) {
        self.engine = engine
    }

    var dialect: any Dialect { engine.dialect }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        if purpose == .write { writes.increase() }
        return try await engine.withConnection(for: purpose, deadline: deadline, body)
    }

    func close() async { await engine.close() }
}
