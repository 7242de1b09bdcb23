import Gateway
import MergeService
import Testing
import TestSupport

/// Pushes that share a transaction are answered as if each had one of its own.
@Suite struct CoalescingTests {
    private static let count = 48
    private static func sql(_ engine: String) -> String {
        """
        CREATE TABLE pots (id INTEGER PRIMARY KEY, a VARCHAR(20) NOT NULL, b VARCHAR(20), n INTEGER NOT NULL DEFAULT 0,
          code VARCHAR(20) UNIQUE)\(engine);
        CREATE TABLE lids (id INTEGER PRIMARY KEY, pot INTEGER NOT NULL, c VARCHAR(20))\(engine);
        INSERT INTO pots (id, a, b, n, code) VALUES \((1...count).map { "(\($0), 'a', 'b', 5, 'c\($0)')" }.joined(separator: ","));
        INSERT INTO pots (id, a, code) VALUES (5000, 'a', 'taken');
        INSERT INTO lids VALUES \((1...count).map { "(\($0), \($0), 'c')" }.joined(separator: ","));
        """
    }
    private static let rules = [
        "pots.yaml": """
        resource: pots
        sections:
          pot:
            table: pots
            groups:
              a: a
              b: {column: b, on-conflict: server-wins}
              n: {column: n, merge: add, on-conflict: reject}
              code: {column: code, on-conflict: reject}
            checks: [{name: positive, sql: n >= 0, fields: [n], on-failure: server-wins}]
          lids:
            list: true
            table: lids
            parent: {pot: id}
            groups: {c: c}
        """
    ]

    /// One edit of one record: fresh or stale, sound or refused by a policy, a check, an index or the wire.
    private static func push(_ id: Int, _ random: inout SeededRandom) -> String {
        func one(_ words: [String]) -> String { words.randomElement(using: &random) ?? "" }
        let changes = [
            #""pot":{"a":{"old":"\#(one(["a", "x"]))","new":"\#(one(["y\(id)", "a", "Zoë"]))"}}"#,
            #""pot":{"b":{"old":"\#(one(["b", "x"]))","new":"\#(one(["y", "b"]))"},"a":{"old":"a","new":"q\#(id)"}}"#,
            #""pot":{"n":{"old":\#(one(["5", "4"])),"new":\#(one(["9", "-50", "5"]))}}"#,
            #""pot":{"code":{"old":"c\#(id)","new":"\#(one(["taken", "d\(id)"]))"}}"#,
            #""pot":{"code":{"old":"stale","new":"e\#(id)"}}"#,
            #""lids":[{"id":\#(id),"c":{"old":"\#(one(["c", "x"]))","new":"l\#(id)"}}]"#,
            #""lids":[{"id":\#(id),"c":{"old":"c","new":"k"}}],"pot":{"a":{"old":"a","new":"m"}}"#,
            #""pot":{"nobody":{"old":1,"new":2}}"#,
            #""lids":[{"id":\#(one(["999", "\(id)"])),"c":{"old":"c","new":"z"}}]"#,
        ]
        return
            #"{"key":"k\#(id)","edits":[{"resource":"pots","id":\#(one(["\(id)", "\(id)", "\(id)", "9\(id)00"])),"changeset":{\#(one(changes))}}]}"#
    }

    @Test(arguments: TestEngine.allCases, 0..<4)
    func togetherIsAsOneByOne(_ kind: TestEngine, seed: Int) async throws {
        var random = SeededRandom(seed: seed)
        let pushes = (1...Self.count).map { Self.push($0, &random) }
        let alone = try await Self.run(kind, coalescing: 1, pushes)
        let together = try await Self.run(kind, coalescing: 32, pushes)
        for (index, push) in pushes.enumerated() {
            #expect(together.answers[index] == alone.answers[index], "seed \(seed): \(push)")
        }
        #expect(together.rows == alone.rows, "seed \(seed)")
        #expect(together.entries == alone.entries, "seed \(seed)")
        #expect(Set(alone.answers.map { $0.prefix(3) }).count > 2, "the pushes are too much alike")
    }

    /// Sends every push from a client of its own: one after the other, or all at once.
    private static func run(
        _ kind: TestEngine, coalescing: Int, _ pushes: [String]
    ) async throws -> (answers: [String], rows: String, entries: [String]) {
        let database = try await TestDatabase(kind, mariadb: sql(" ENGINE=InnoDB"), sqlite: sql(""))
        return try await RunningGateway.with(database, rules: rules, journal: .together) { configuration in
            configuration.merge.coalesced = coalescing
        } _: { gateway async throws in
            var answers = [String](repeating: "", count: pushes.count)
            if coalescing == 1 {
                for (index, push) in pushes.enumerated() { answers[index] = try await send(push, gateway) }
            } else {
                try await withThrowingTaskGroup(of: (Int, String).self) { group in
                    for (index, push) in pushes.enumerated() {
                        group.addTask { (index, try await send(push, gateway)) }
                    }
                    for try await (index, answer) in group { answers[index] = answer }
                }
            }
            let rows = try await database.run("SELECT * FROM pots ORDER BY id; SELECT * FROM lids ORDER BY id;")
            let listed = try await gateway.client {
                try await $0.get("/v1/journal?limit=1000").json()["entries"]?.array
            }
            let entries = (listed ?? []).map { "\($0["id"]?.description ?? "") \($0["outcomes"]?.description ?? "")" }
            return (answers, rows, entries.sorted())
        }
    }

    private static func send(_ push: String, _ gateway: RunningGateway) async throws -> String {
        let answer = try await gateway.client { try await $0.post("/v1/push", push) }
        return "\(answer.status) \(answer.text)"
    }
}
