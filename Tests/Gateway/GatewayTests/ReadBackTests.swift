import Testing
import TestSupport

/// Answers contain the values in the database after the writes, for every form in the request.
@Suite struct ReadBackTests {
    private static let table = """
        CREATE TABLE parts (id INTEGER PRIMARY KEY, name VARCHAR(20), weight DOUBLE, changed DATETIME NULL)
        """
    private static let rules = [
        "parts.yaml": """
        resource: parts
        sections:
          part: {table: parts, groups: {name: name, weight: weight, changed: changed}}
        """
    ]

    private static func rows(_ count: Int, name: String = "n") -> String {
        "INSERT INTO parts VALUES " + (1...count).map { "(\($0), '\(name)', 1, NULL)" }.joined(separator: ", ") + ";"
    }

    private static func edit(_ id: Int, _ group: String, _ old: String, _ new: String) -> String {
        #"{"resource":"parts","id":\#(id),"changeset":{"part":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    /// One edit may share its transaction with other pushes.
    ///
    /// 40 edits have a separate one.
    @Test("Answers contain values that the server sets", .tags(.mariadb), .needsMariaDB, arguments: [1, 2, 40])
    func serverValues(_ count: Int) async throws {
        let database = try await TestDatabase(
            .mariadb, mariadb: Self.table + " ENGINE=InnoDB;" + Self.rows(count), sqlite: "")
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            // The gateway has read the schema before this change.
            try await database.run(
                "ALTER TABLE parts MODIFY changed DATETIME NULL ON UPDATE CURRENT_TIMESTAMP")
            try await gateway.client { client async throws in
                let edits = (1...count).map { Self.edit($0, "name", #""n""#, #""m""#) }.joined(separator: ",")
                let answer = try await client.post("/v1/push", #"{"key":"k","edits":[\#(edits)]}"#)
                #expect(answer.status == 200, "\(answer.text)")
                let results = try #require(try answer.json()["results"]).array
                #expect(results.count == count)
                for (id, result) in zip(1..., results) {
                    let stored = try await database.run(
                        "SELECT DATE_FORMAT(changed, '%Y-%m-%dT%T') FROM parts WHERE id = \(id)")
                    #expect(stored.count == 20)
                    let part = result["record"]?["part"]
                    #expect(part?["changed"]?.text.map { $0 + "\n" } == stored)
                    #expect(part?["name"]?.text == "m")
                }
                // The stored answer equals the first one.
                #expect(try await client.post("/v1/push", #"{"key":"k","edits":[\#(edits)]}"#).text == answer.text)
            }
        }
    }

    /// Values that the client spells otherwise than the database are answered as the database spells them.
    @Test("Equal values with another spelling are answered as stored", .tags(.mariadb), .needsMariaDB)
    func equalValues() async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb:
                "CREATE TABLE hosts (id INT PRIMARY KEY, place INET6, load_factor DOUBLE, facts JSON) ENGINE=InnoDB;"
                + "INSERT INTO hosts VALUES (1, NULL, 1, NULL);"
                + "CREATE TABLE nets (at INET6 PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB;"
                + "INSERT INTO nets VALUES ('2001:db8::1', 'n'), ('2001:db8::2', 'n');", sqlite: "")
        let rules = [
            "hosts.yaml": """
            resource: hosts
            sections:
              host: {table: hosts, groups: {place: place, load: load_factor, facts: facts}}
            """,
            "nets.yaml": """
            resource: nets
            sections:
              net: {table: nets, groups: {name: name}}
            """,
        ]
        let edits = [
            ("place", "null", #""2001:DB8:0:0::FF""#), ("place", #""2001:db8::ff""#, #""2001:DB8::0:1""#),
            ("load", "1", "-0.0"), ("load", "0", "-0.0"), ("facts", "null", #"{"b": 1.0, "a": [2e1]}"#),
            ("facts", #"{"a": [20], "b": 1}"#, #"{"c": "\u0041", "b": 1}"#),
        ]
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                for (field, old, new) in edits {
                    let answer = try await client.post(
                        "/v1/merge/hosts",
                        #"{"id":1,"changeset":{"host":{"\#(field)":{"old":\#(old),"new":\#(new)}}}}"#)
                    #expect(answer.status == 200, "\(answer.text)")
                    // The section of the answer equals, byte for byte, the one of a read.
                    let record = try await client.get("/v1/records/hosts/1").text
                    let section = try #require(record.split(separator: #""host":"#).last)
                    #expect(answer.text.contains(section.dropLast()), "\(answer.text) \(record)")
                }
                let answer = try await client.post(
                    "/v1/merge/nets",
                    #"{"id":"2001:DB8::1","changeset":{"net":{"name":{"old":"n","new":"m"}}}}"#)
                #expect(try answer.json()["record"]?["id"]?.text == "2001:db8::1", "\(answer.text)")
            }
        }
    }

    /// A push of merged edits, conflicts, already current values, and a deleted record.
    @Test("Each outcome has the current value", arguments: TestEngine.allCases)
    func outcomes(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.table + " ENGINE=InnoDB;" + Self.rows(30), sqlite: Self.table + ";" + Self.rows(30))
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edits = [
                    Self.edit(1, "name", #""n""#, #""m""#), Self.edit(2, "name", #""x""#, #""m""#),
                    Self.edit(3, "name", #""x""#, #""n""#), Self.edit(4, "weight", "1", "-0.0"),
                    Self.edit(99, "name", #""n""#, #""m""#), Self.edit(6, "changed", "null", #""2026-01-02T03:04:05""#),
                ]
                let outcomes = ["applied", "client-won", "already", "applied", "missing", "applied"]
                // Few edits share a transaction. Many have a separate one.
                for rest in [0, 20] {
                    try await database.run("DELETE FROM parts;")
                    try await database.run(Self.rows(30))
                    let more = (0..<rest).map { Self.edit(10 + $0, "name", #""n""#, #""m""#) }
                    let answer = try await client.post(
                        "/v1/push", #"{"edits":[\#((edits + more).joined(separator: ","))]}"#)
                    #expect(answer.status == 200, "\(answer.text)")
                    let results = try #require(try answer.json()["results"]).array
                    #expect(results.prefix(6).map { $0["outcomes"]?[0]?["outcome"]?.text } == outcomes)
                    for result in results {
                        let id = try #require(result["id"]?.int)
                        let record = try await client.get("/v1/records/parts/\(id)")
                        if id == 99 {
                            #expect(result["record"]?.isNull == true && record.status == 404)
                        } else {
                            #expect(try result["record"] == record.json(), "\(record.text)")
                        }
                    }
                    // The JSON reader of the tests loses the sign of a zero, so the texts are compared.
                    let zero = try await client.get("/v1/records/parts/4").text
                    #expect(answer.text.contains(#""weight":-0"#) == zero.contains(#""weight":-0"#), "\(zero)")
                }
            }
        }
    }
}
