import Foundation
import TestSupport
import Testing

/// Pushes that are longer than one packet of the server (`max_allowed_packet`), or whose records are.
@Suite(.timeLimit(.minutes(5))) struct LongPushTests {
    private static let packet = 4 << 20
    private static let sql = """
        CREATE TABLE docs (id INT PRIMARY KEY, n VARCHAR(20), txt LONGTEXT NOT NULL);

        """
    private static let rules = [
        "docs.yaml": "resource: docs\nsections:\n  doc: {table: docs, groups: {n: n, txt: txt}}\n"
    ]

    /// Text that cannot be packed to much less than its length.
    private static func text(_ bytes: Int, seed: Int) -> String {
        var random = SeededRandom(seed: seed)
        let data = Data((0..<bytes * 3 / 4 / 8).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } })
        return data.base64EncodedString()
    }

    private static func creation(_ id: Int, _ text: String) -> String {
        #"{"resource":"docs","id":\#(id),"changeset":{"doc":{"old":null,"new":{"n":"a","txt":"\#(text)"}}}}"#
    }

    private static func rename(_ id: Int, _ old: String, _ new: String) -> String {
        #"{"resource":"docs","id":\#(id),"changeset":{"doc":{"n":{"old":"\#(old)","new":"\#(new)"}}}}"#
    }

    private static func push(_ key: String, _ edits: [String]) -> String {
        #"{"key":"\#(key)","edits":[\#(edits.joined(separator: ","))]}"#
    }

    private static func with(
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let server = try await PrivateMariaDB(options: ["--max-allowed-packet=\(packet)"])
        let database = try await TestDatabase(.mariadb, mariadb: sql, sqlite: "", server: server)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
        server.kill()
    }

    @Test(
        "A push whose answer, entry and key together are longer than a packet is merged", .tags(.mariadb), .needsMariaDB
    )
    func oneLongRow() async throws {
        try await Self.with { client, database async throws in
            let body = Self.push("long", [Self.creation(1, Self.text(2_400_000, seed: 1))])
            let first = try await client.post("/v1/push", body)
            #expect(first.status == 200, "\(first.text.prefix(1_000))")
            #expect(try await client.post("/v1/push", body).body == first.body)
            #expect(try await database.run("SELECT LENGTH(txt) FROM docs;") == "2400000\n")
        }
    }

    @Test("Rows that one statement writes together may be longer than a packet", .tags(.mariadb), .needsMariaDB)
    func rowsWrittenTogether() async throws {
        try await Self.with { client, database async throws in
            let values = (1...18).map { "(\($0), 'a', 'x')" }.joined(separator: ",")
            try await database.run("INSERT INTO docs VALUES \(values);")
            // Eighteen rows are padded to thirty-two in one UPDATE.
            let edits = (1...18).map { id in
                let text = Self.text(180_000, seed: id)
                return #"{"resource":"docs","id":\#(id),"changeset":{"doc":{"txt":{"old":"x","new":"\#(text)"}}}}"#
            }
            let answer = try await client.post("/v1/push", Self.push("many", edits))
            #expect(answer.status == 200, "\(answer.text.prefix(1_000))")
            #expect(try await database.run("SELECT MIN(LENGTH(txt)), COUNT(*) FROM docs;") == "180000\t18\n")
        }
    }

    @Test(
        "A short push of long records is refused if the journal cannot keep its answer", .tags(.mariadb), .needsMariaDB)
    func longRecords() async throws {
        try await Self.with { client, database async throws in
            for id in 1...10 {
                let answer = try await client.post(
                    "/v1/push", Self.push("c\(id)", [Self.creation(id, Self.text(700_000, seed: id))]))
                #expect(answer.status == 200)
            }
            let renames = (1...10).map { Self.rename($0, "a", "b") }
            let body = #"{"pushes":[\#(Self.push("bad", renames)),\#(Self.push("good", [renames[0]]))]}"#
            let answer = try await client.post("/v1/sync", body)
            let results = try answer.json()["results"]?.array ?? []
            #expect(results.map { $0["status"]?.text } == ["failed", "merged"], "\(answer.text.prefix(2_000))")
            #expect(results.first?["code"]?.int == 422)
            let problem = results.first?["problem"]
            #expect(problem?["code"]?.text == "record-too-large" && problem?["retry"]?.bool == false)
            #expect(results.first?["results"]?[0]?["record"]?.isNull == true)
            #expect(
                try await database.runOnJournal("SELECT reason FROM entries WHERE body IS NOT NULL;")
                    == "record-too-large\n")
            #expect(try await database.run("SELECT GROUP_CONCAT(DISTINCT n ORDER BY n) FROM docs;") == "a,b\n")
        }
    }

    @Test(
        "A push that is too large for the journal is 413, and the limit is in the rules", .tags(.mariadb),
        .needsMariaDB)
    func bodyBeyondAPacket() async throws {
        try await Self.with { client, database async throws in
            let limit = try #require(try await client.get("/v1/rules").json()["limits"]?["body"]?.int)
            #expect(limit < Self.packet && limit > Self.packet - 4_096)
            let long = Self.push("bad", [Self.creation(1, Self.text(limit, seed: 1))])
            let alone = try await client.post("/v1/push", long)
            #expect(alone.status == 413, "\(alone.text.prefix(1_000))")
            #expect(try alone.json()["retry"]?.bool == false)
            let sync = try await client.post(
                "/v1/sync", #"{"pushes":[\#(long),\#(Self.push("good", [Self.creation(2, "short")]))]}"#)
            let results = try sync.json()["results"]?.array ?? []
            #expect(results.map { $0["code"]?.int } == [413, 200], "\(sync.text.prefix(1_000))")
            #expect(results.first?["problem"]?["retry"]?.bool == false)
            #expect(try await database.run("SELECT id FROM docs;") == "2\n")
        }
    }
}
