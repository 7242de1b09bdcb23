import Testing
import TestSupport

/// Many clients on few records: every answer is explained by one serial order, no group is torn, and no group that was
/// not sent changes.
@Suite(.serialized) struct ConcurrencyTests {
    private static let records = 20
    private static let clients = 16

    private static let rows = (1...records).map { "(\($0), 'start', 'start', 'start', 0)" }.joined(separator: ",")
    private static let mariadb =
        "CREATE TABLE pots (id INT PRIMARY KEY, a VARCHAR(40), b VARCHAR(40), c VARCHAR(40), untouched INT) ENGINE=InnoDB;"
        + "INSERT INTO pots VALUES \(rows);"
    private static let rules = [
        "pots.yaml": """
        resource: pots
        sections:
          pot:
            table: pots
            groups:
              pair: {fields: {a: a, b: b}}
              single: {column: c, on-conflict: server-wins}
              untouched: untouched
        """
    ]

    /// An answered write: the value before it and its new value.
    private struct Write: Sendable {
        let record: Int
        let group: String
        let before: String
        let after: String
    }

    private static let setups = [
        (TestEngine.mariadb, "InnoDB", 200), (.sqlite, "", 40), (.mariadb, "MyISAM", 40), (.mariadb, "Aria", 40),
    ].filter { TestEngine.allCases.contains($0.0) }

    @Test("All answers fit one order of the writes", arguments: setups)
    func order(_ kind: TestEngine, engine: String, edits: Int) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.mariadb.replacing("InnoDB", with: engine),
            sqlite: Self.mariadb.replacing(" ENGINE=InnoDB", with: ""))
        let rules = ["pots.yaml": (Self.rules["pots.yaml"] ?? "") + "\nnon-transactional: allow\n"]
        if ["MyISAM", "Aria"].contains(engine) { try await database.grantTableLocks() }
        let writes = try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await withThrowingTaskGroup(of: [Write].self) { group in
                for client in 0..<Self.clients {
                    group.addTask { try await gateway.client { try await Self.edit(client, edits, $0) } }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        #expect(writes.count > Self.clients * edits / 3)
        for record in 1...Self.records {
            let row =
                try await database.run("SELECT a, b, c, untouched FROM pots WHERE id = \(record);")
                .split(separator: "\n").first?.split(separator: "\t").map(String.init) ?? []
            #expect(row.count == 4 && row[0] == row[1], "record \(record) is torn: \(row)")
            #expect(row.last == "0")
            for (group, last) in [("pair", row[0]), ("single", row[2])] {
                try Self.follow(writes.filter { $0.record == record && $0.group == group }, to: last)
            }
        }
    }

    /// Follows the writes from the first value to the last.
    ///
    /// Each starts from the value of another, and all are used.
    private static func follow(_ writes: [Write], to last: String) throws {
        var next: [String: String] = [:]
        for write in writes {
            #expect(next.updateValue(write.after, forKey: write.before) == nil, "two writes stand on \(write.before)")
        }
        var value = "start"
        var steps = 0
        while let following = next[value] {
            value = following
            steps += 1
        }
        #expect(value == last)
        #expect(steps == writes.count, "\(writes.count - steps) writes have no place")
    }

    private static func edit(_ client: Int, _ edits: Int, _ session: HTTPClient.Session) async throws -> [Write] {
        var random = SeededRandom(seed: client)
        var known: [Int: JSON] = [:]
        var writes: [Write] = []
        for number in 0..<edits {
            let id = Int.random(in: 1...records, using: &random)
            if known[id] == nil { known[id] = try await session.get("/v1/records/pots/\(id)").json()["pot"] }
            let pot = try #require(known[id])
            let (a, c) = (pot["a"]?.text ?? "", pot["c"]?.text ?? "")
            let value = "w\(client).\(number)"
            var groups: [String] = []
            if Bool.random(using: &random) {
                groups.append(#""pair":{"old":{"a":"\#(a)","b":"\#(a)"},"new":{"a":"\#(value)","b":"\#(value)"}}"#)
            }
            if groups.isEmpty || Bool.random(using: &random) {
                groups.append(#""single":{"old":"\#(c)","new":"\#(value)"}"#)
            }
            let answer = try await session.post(
                "/v1/merge/pots", #"{"id":\#(id),"changeset":{"pot":{\#(groups.joined(separator: ","))}}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let json = try answer.json()
            let record = json["record"]?["pot"]
            #expect(record?["a"] == record?["b"], "the answer mixes two edits: \(answer.text)")
            for outcome in json["outcomes"]?.array ?? [] {
                let group = outcome["group"]?.text ?? ""
                let base = group == "pair" ? a : c
                switch outcome["outcome"]?.text {
                case "applied": writes.append(Write(record: id, group: group, before: base, after: value))
                case "client-won":
                    let current = outcome["current"]?["a"]?.text ?? ""
                    writes.append(Write(record: id, group: group, before: current, after: value))
                case "server-won": #expect(outcome["written"]?.text != value)
                default: Issue.record("unexpected \(outcome)")
                }
                if outcome["outcome"]?.text != "server-won" {
                    #expect(record?[group == "pair" ? "a" : "c"]?.text == value)
                }
            }
            // Half of the clients keep their first copy, as if they had been offline.
            if client % 2 == 0 { known[id] = record }
        }
        return writes
    }
}
