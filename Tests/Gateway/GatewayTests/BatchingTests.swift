import Gateway
import MergeService
import Testing
import TestSupport

/// Pushes that share a transaction have the answers that they would have alone.
@Suite struct BatchingTests {
    private static let count = 48

    /// - Parameter check: when a rack that is not there is refused.
    private static func sql(_ engine: String, check: String) -> String {
        """
        CREATE TABLE racks (id INTEGER PRIMARY KEY)\(engine);
        INSERT INTO racks VALUES (1);
        CREATE TABLE pots (id INTEGER PRIMARY KEY, a VARCHAR(20) NOT NULL, b VARCHAR(20), n INTEGER NOT NULL DEFAULT 0,
          code VARCHAR(20) UNIQUE, rack INTEGER, FOREIGN KEY (rack) REFERENCES racks (id)\(check))\(engine);
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
              rack: rack
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
            #""pot":{"rack":{"old":null,"new":\#(one(["1", "1", "7"]))}}"#,
            #""lids":[{"id":\#(one(["999", "\(id)"])),"c":{"old":"c","new":"z"}}]"#,
        ]
        return
            #"{"key":"k\#(id)","edits":[{"resource":"pots","id":\#(one(["\(id)", "\(id)", "\(id)", "9\(id)00"])),"changeset":{\#(one(changes))}}]}"#
    }

    @Test(
        "Pushes in a batch have the answers of single pushes",
        arguments: TestEngine.allCases.flatMap { [($0, JournalPlace.together), ($0, .ahead)] }, 0..<4)
    func batchedPushes(_ setup: (TestEngine, JournalPlace), seed: Int) async throws {
        let (kind, place) = setup
        var random = SeededRandom(seed: seed)
        let pushes = (1...Self.count).map { Self.push($0, &random) }
        let alone = try await Self.run(kind, place, coalescing: 1, pushes)
        let together = try await Self.run(kind, place, coalescing: 32, pushes)
        for (index, push) in pushes.enumerated() {
            #expect(together.answers[index] == alone.answers[index], "seed \(seed): \(push)")
        }
        #expect(together.rows == alone.rows, "seed \(seed)")
        #expect(together.entries == alone.entries, "seed \(seed)")
        #expect(Set(alone.answers.map { $0.prefix(3) }).count > 2, "the pushes are too much alike")
    }

    /// Sends each push from a separate client, one after the other or all at once.
    private static func run(
        _ kind: TestEngine, _ place: JournalPlace, coalescing: Int, _ pushes: [String]
    ) async throws -> (answers: [String], rows: String, entries: [String]) {
        // SQLite checks a deferred key only at COMMIT, after all writes.
        let database = try await TestDatabase(
            kind, mariadb: sql(" ENGINE=InnoDB", check: ""), sqlite: sql("", check: " DEFERRABLE INITIALLY DEFERRED"))
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        return try await RunningGateway.with(
            database, rules: rules, journal: place
        ) { configuration in
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

    /// One id for all requests, so that problem documents can be compared.
    private static let requestID = ["X-Request-ID": "batching"]

    private static func send(_ push: String, _ gateway: RunningGateway) async throws -> String {
        let answer = try await gateway.client { try await $0.post("/v1/push", push, requestID) }
        return "\(answer.status) \(answer.text)"
    }

    // MARK: Reads

    @Test("Reads that share a snapshot have the answers of single reads", arguments: TestEngine.allCases)
    func sharedReads(_ kind: TestEngine) async throws {
        let lids = (2...60).map { "(\(100 + $0), 2, 'c')" }.joined(separator: ",")
        let more = "INSERT INTO lids VALUES \(lids);"
        let database = try await TestDatabase(
            kind, mariadb: Self.sql(" ENGINE=InnoDB", check: "") + more, sqlite: Self.sql("", check: "") + more)
        // One record twice, a missing record, a record over the limit, and another resource.
        let paths =
            (1...24).map { "/v1/records/pots/\($0)" } + ["/v1/records/pots/3", "/v1/records/pots/777"]
            + ["/v1/records/racks/1", "/v1/records/racks/9"]
        let rules = Self.rules.merging([
            "racks.yaml": "resource: racks\nsections:\n  rack: {table: racks, read-only: {}, groups: {}}\n"
        ]) { first, _ in first }
        var answers: [[String]] = []
        for coalescing in [1, 32] {
            let found = try await RunningGateway.with(database, rules: rules) { configuration in
                configuration.merge.coalesced = coalescing
                configuration.merge.rowsPerRecord = 20
            } _: { gateway async throws in
                try await withThrowingTaskGroup(of: (Int, String).self) { group in
                    for (index, path) in paths.enumerated() {
                        group.addTask {
                            let answer = try await gateway.client { try await $0.get(path, Self.requestID) }
                            return (index, "\(answer.status) \(answer.text)")
                        }
                    }
                    var found = [String](repeating: "", count: paths.count)
                    for try await (index, answer) in group { found[index] = answer }
                    return found
                }
            }
            answers.append(found)
        }
        for (index, path) in paths.enumerated() { #expect(answers[0][index] == answers[1][index], "\(path)") }
        #expect(answers[1][0].hasPrefix("200") && answers[1][25].hasPrefix("404") && !answers[1][1].hasPrefix("200"))
        #expect(answers[1][2] == answers[1][24])
    }
}
