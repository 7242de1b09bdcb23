import Testing
import TestSupport

/// Many rows of one push are written by few statements, with the result of single writes.
@Suite struct BulkTests {
    private static let count = 300
    private static func sql(_ engine: String) -> String {
        """
        CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(60) UNIQUE, price DECIMAL(12,3), pieces BIGINT, ratio DOUBLE,
          made DATE, at DATETIME, flag TINYINT, data BLOB, doc JSON)\(engine);
        CREATE TABLE parts (thing INTEGER NOT NULL, no VARCHAR(10) NOT NULL, txt VARCHAR(40), PRIMARY KEY (thing, no))\(engine);
        INSERT INTO things (id, name) VALUES \((1...count).map { "(\($0), 'n\($0)')" }.joined(separator: ","));
        INSERT INTO parts VALUES \((1...count).map { "(\($0), 'p é', 'x')" }.joined(separator: ","));
        """
    }
    private static let rules = [
        "things.yaml": """
        resource: things
        sections:
          thing:
            table: things
            groups:
              name: name
              price: price
              pieces: pieces
              ratio: ratio
              made: made
              at: at
              flag: {column: flag, type: boolean}
              data: data
              doc: {column: doc, type: json}
          parts:
            list: true
            table: parts
            key: [thing, no]
            parent: {thing: id}
            groups: {txt: txt}
        """
    ]

    private static func values(_ random: inout SeededRandom, _ id: Int, _ round: Int) -> [(String, String)] {
        let length = Int.random(in: 0...30, using: &random)
        let options: [(String, [String])] = [
            ("name", [#""\#(String(repeating: "ü", count: length))\#(round).\#(id)""#]),
            (
                "price",
                [
                    "null",
                    "\"\(Int.random(in: -9...999_999, using: &random)).\(Int.random(in: 100...999, using: &random))\"",
                    "\"0.000\"",
                ]
            ),
            ("pieces", ["null", "\"-9223372036854775808\"", "\(id)", "\"9223372036854775807\""]),
            ("ratio", ["null", "0.1", "1e300", "-2.5"]),
            ("made", ["null", "\"2026-11-21\"", "\"1000-01-01\""]),
            ("at", ["null", "\"2026-11-21T10:00:00\""]),
            ("flag", ["null", "true", "false"]),
            ("data", ["null", "\"\"", "\"AAEC/w==\""]),
            ("doc", ["null", #"{"a":[1,2.5,"ü"],"b":null}"#, "[]", "7"]),
        ]
        return options.compactMap { name, values in
            Bool.random(using: &random) ? values.randomElement(using: &random).map { (name, $0) } : nil
        }
    }

    @Test("Each row gets its values", arguments: TestEngine.allCases, 0..<3)
    func values(_ kind: TestEngine, seed: Int) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql(" ENGINE=InnoDB"), sqlite: Self.sql(""))
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client in
                var random = SeededRandom(seed: seed)
                for round in 0..<3 {
                    var wanted: [Int: [String: JSON]] = [:]
                    var edits: [String] = []
                    for id in 1...Self.count {
                        let record = try await client.get("/v1/records/things/\(id)").json()["thing"]
                        let changes = Self.values(&random, id, round)
                        wanted[id] = try Dictionary(uniqueKeysWithValues: changes.map { ($0.0, try JSON($0.1)) })
                        let groups = changes.map { name, value in
                            #""\#(name)":{"old":\#(record?[name]?.description ?? "null"),"new":\#(value)}"#
                        }
                        edits.append(
                            #"{"resource":"things","id":\#(id),"changeset":{"thing":{\#(groups.joined(separator: ","))},"parts":[{"id":[\#(id),"p é"],"txt":{"old":"x","new":"\#(seed).\#(round).\#(id)"}}]}}"#
                        )
                    }
                    let answer = try await client.post(
                        "/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
                    #expect(answer.status == 200, "seed \(seed): \(answer.text.prefix(2_000))")
                    for id in 1...Self.count {
                        let record = try await client.get("/v1/records/things/\(id)").json()
                        for (name, value) in wanted[id] ?? [:] {
                            #expect(record["thing"]?[name] == value, "seed \(seed), thing \(id), \(name)")
                        }
                        #expect(record["parts"]?[0]?["txt"]?.text == "\(seed).\(round).\(id)")
                    }
                }
            }
        }
    }

    @Test("The problem names the refused row", arguments: TestEngine.allCases)
    func refusedRow(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql(" ENGINE=InnoDB"), sqlite: Self.sql(""))
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client in
                let edits = (1...50).map { id in
                    #"{"resource":"things","id":\#(id),"changeset":{"thing":{"name":{"old":"n\#(id)","new":"\#(id == 17 ? "n200" : "m\(id)")"}}}}"#
                }
                let answer = try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
                #expect(answer.status == 422)
                let problem = try answer.json()["problem"]
                #expect(problem?["path"]?.text == "edits[16].changeset.thing")
                #expect(problem?["record"]?["id"]?.int == 200)
                #expect(try await database.run("SELECT COUNT(*) FROM things WHERE name LIKE 'm%';") == "0\n")
                // Unique values are exchanged completely or not at all.
                let ring =
                    #"{"edits":[{"resource":"things","id":1,"changeset":{"thing":{"name":{"old":"n1","new":"free"}}}},{"resource":"things","id":2,"changeset":{"thing":{"name":{"old":"n2","new":"n1"}}}}]}"#
                #expect(try await client.post("/v1/push", ring).status == 200)
                #expect(try await database.run("SELECT name FROM things WHERE id < 3 ORDER BY id;") == "free\nn1\n")
            }
        }
    }
}
