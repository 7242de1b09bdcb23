import MergeCore
import MergeWire
import Testing
import TestSupport

@testable import Gateway

/// Private values are hidden in entries, in refused pushes, and in stored answers.
@Suite struct PrivateJournalTests {
    private static func with(
        _ kind: TestEngine, rules: [String: String] = JournalTests.rules,
        configure: (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(
            database, rules: rules, journal: .together, configure: configure
        ) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    /// The whole journal as text.
    private static func journal(_ database: TestDatabase) async throws -> String {
        let quote = database.kind == .mariadb ? "CONCAT_WS('|', HEX(answer), HEX(body), HEX(entry))" : nil
        return try await database.runOnJournal(
            "SELECT \(quote ?? "coalesce(hex(answer), '') || '|' || coalesce(hex(body), '') || '|' || coalesce(hex(entry), '')") FROM entries;"
        )
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { String($0, radix: 16, uppercase: true) }.joined()
    }

    /// Columns that no rule names are stored for undo, and never shown.
    @Test("Columns without a rule are stored for an undo, and not shown", arguments: TestEngine.allCases)
    func otherColumns(_ kind: TestEngine) async throws {
        // A row with a private value could not be restored completely.
        let rules = JournalTests.rules.mapValues {
            $0.replacing("secret: {column: secret, private: true}", with: "secret: secret")
        }
        try await Self.with(kind, rules: rules) { client, database in
            let gone = try await client.post(
                "/v1/merge/people", JournalTests.edit(#"{"person":{"old":{},"new":null}}"#, id: 2))
            #expect(gone.status == 200, "\(gone.text)")
            for path in ["/v1/journal", "/v1/journal/1"] {
                let shown = try await client.get(path)
                #expect(!shown.text.contains("u2") && !shown.text.contains("unseen"), "\(shown.text)")
                #expect(shown.text.contains(#""outcome":"deleted""#) && shown.text.contains("Bob"))
            }
            #expect(try await Self.journal(database).contains(Self.hex("u2")), "kept for undo")
            #expect(try await client.post("/v1/journal/1/undo", "{}").status == 200)
            #expect(try await database.run("SELECT unseen FROM people WHERE id = 2;") == "u2\n")
        }
    }

    @Test("A missing record is null in a stored answer", arguments: TestEngine.allCases)
    func goneRecord(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("UPDATE people SET state = 'sent' WHERE id = 1;")
            let push =
                #"{"key":"g","edits":[{"resource":"people","id":1,"changeset":{"person":{"state":{"old":"sent","new":"paid"}}}}]}"#
            let merged = try await client.post("/v1/push", push)
            #expect(merged.status == 200 && merged.text.contains(#""secret":"pin""#), "\(merged.text)")
            try await database.run("DELETE FROM items WHERE person = 1; DELETE FROM people WHERE id = 1;")
            let again = try await client.post("/v1/push", push)
            #expect(again.headers["idempotent-replayed"] == "true" && !again.text.contains("hmac"), "\(again.text)")
            #expect(try again.json()["results"]?[0]?["record"]?.isNull == true, "\(again.text)")
        }
    }

    @Test("A refused creation that found its record has no digests when it is repeated", arguments: TestEngine.allCases)
    func refusedCreation(_ kind: TestEngine) async throws {
        let rules = JournalTests.rules.mapValues {
            $0.replacing("    table: people\n", with: "    table: people\n    identity: [name]\n")
        }
        try await Self.with(kind, rules: rules) { client, _ in
            let push =
                #"{"key":"g","edits":[{"resource":"people","id":"tmp:a","changeset":{"person":{"old":null,"new":{"name":"Ann","state":"other"}}}}]}"#
            let first = try await client.post("/v1/push", push)
            #expect(first.status == 409 && first.text.contains(#""secret":"pin""#), "\(first.text)")
            let again = try await client.post("/v1/push", push)
            #expect(again.status == 409 && !again.text.contains("hmac"), "\(again.text)")
            #expect(try again.json()["results"]?[0]?["record"] == first.json()["results"]?[0]?["record"])
        }
    }

    @Test(
        "Refused pushes and stored answers contain digests of private values, whatever their form",
        arguments: TestEngine.allCases)
    func digests(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("UPDATE people SET state = 'sent' WHERE id = 1;")
            let changes = #"{"person":{"secret":{"old":"pin","new":"s3cret"},"state":{"old":"new","new":"paid"}}}"#
            let refused = try await client.post("/v1/merge/people", JournalTests.edit(changes, key: "r"))
            #expect(refused.status == 409)
            let rows = #"{"person":{"old":{"secret":"pin","state":"sent"},"new":{"secret":"s3cret","state":"sent"}}}"#
            let push = #"{"key":"m","edits":[{"resource":"people","id":1,"changeset":\#(rows)}]}"#
            let merged = try await client.post("/v1/push", push)
            #expect(merged.status == 200, "\(merged.text)")
            let kept = try await Self.journal(database)
            for secret in ["s3cret", "\"pin\""] { #expect(!kept.contains(Self.hex(secret)), "\(secret)") }
            let shown = try await client.get("/v1/journal/1")
            #expect(shown.text.contains("hmac-sha256:") && shown.text.contains(#""private":["secret"]"#))
            // The client gets the complete answers, because it sends the private values again.
            let again = try await client.post("/v1/push", push)
            #expect(again.headers["idempotent-replayed"] == "true" && again.body == merged.body, "\(again.text)")
            let refusedAgain = try await client.post("/v1/merge/people", JournalTests.edit(changes, key: "r"))
            #expect(refusedAgain.status == 409 && !refusedAgain.text.contains("hmac-sha256:"), "\(refusedAgain.text)")
            #expect(try await database.run("SELECT secret FROM people WHERE id = 1;") == "s3cret\n")
        }
    }

    @Test(
        "by names the last push that wrote a private group only if the database still contains its value",
        arguments: TestEngine.allCases)
    func authorsOfPrivateValues(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            func by(_ old: String, _ new: String) async throws -> JSON? {
                let body = #"{"id":1,"changeset":{"person":{"secret":{"old":\#(old),"new":\#(new)}}}}"#
                let answer = try await client.post("/v1/merge/people?by=true&preview=true", body)
                #expect(try answer.json()["outcomes"]?[0]?["conflict"]?.bool == true, "\(answer.text)")
                return try answer.json()["outcomes"]?[0]?["by"]
            }
            func write(_ old: String, _ new: String) async throws {
                let body = #"{"id":1,"changeset":{"person":{"secret":{"old":\#(old),"new":\#(new)}}}}"#
                let answer = try await client.post("/v1/merge/people", body, ["X-Device-ID": "tablet"])
                #expect(answer.status == 200, "\(answer.text)")
            }
            try await write(#""pin""#, #""p2""#)
            #expect(try await by(#""pin""#, #""x""#)?["device"]?.text == "tablet")
            try await database.run("UPDATE people SET secret = 'foreign' WHERE id = 1;")
            #expect(try await by(#""pin""#, #""x""#)?.isNull == true)
            try await database.run("UPDATE people SET secret = NULL WHERE id = 1;")
            #expect(try await by(#""pin""#, #""x""#)?.isNull == true)
            try await database.run("UPDATE people SET secret = 'p2' WHERE id = 1;")
            #expect(try await by(#""pin""#, #""x""#)?["entry"]?.int == 1)
            try await write(#""p2""#, "null")
            #expect(try await by(#""pin""#, #""x""#)?["entry"]?.int == 2)
            // A row that was created has all of its values from its push.
            let made = try await client.post(
                "/v1/merge/people",
                #"{"id":"tmp:a","changeset":{"person":{"old":null,"new":{"name":"Eve","secret":"s1"}}}}"#)
            let id = try #require(try made.json()["id"]?.int, "\(made.text)")
            func byOfCreated() async throws -> JSON? {
                try await client.post(
                    "/v1/merge/people?by=true&preview=true",
                    #"{"id":\#(id),"changeset":{"person":{"secret":{"old":"s0","new":"x"}}}}"#
                ).json()["outcomes"]?[0]?["by"]
            }
            #expect(try await byOfCreated()?["entry"]?.int == 3)
            try await database.run("UPDATE people SET secret = 'foreign' WHERE id = \(id);")
            #expect(try await byOfCreated()?.isNull == true)
        }
    }

    @Test(
        "A conflicting deletion names no push in `by` if the row differs from the journal's",
        arguments: TestEngine.allCases)
    func authorsOfWholeRows(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            func by() async throws -> JSON? {
                try await client.post(
                    "/v1/merge/people?by=true&preview=true",
                    #"{"id":1,"changeset":{"person":{"old":{"secret":"pin"},"new":null}}}"#
                ).json()["outcomes"]?[0]?["by"]
            }
            _ = try await client.post(
                "/v1/merge/people",
                #"{"id":1,"changeset":{"person":{"secret":{"old":"pin","new":"p2"}}}}"#, ["X-Device-ID": "tablet"])
            #expect(try await by()?["device"]?.text == "tablet")
            try await database.run("UPDATE people SET secret = 'foreign' WHERE id = 1;")
            #expect(try await by()?.isNull == true)
        }
    }

    @Test("Long bodies are stored packed, up to a limit for each sender and day", arguments: TestEngine.allCases)
    func shares(_ kind: TestEngine) async throws {
        try await Self.with(kind, configure: { $0.journalBytesPerDay = 20_000 }) { client, database in
            try await database.run("UPDATE people SET state = 'sent' WHERE id = 1;")
            func push(_ number: Int) -> String {
                let space = String(repeating: " ", count: 1_000_000)
                return JournalTests.edit(#"{"person":{"state":{"old":"new","new":"p\#(number)"}}}"#) + space
            }
            var refused = 0
            var last = try await client.post("/v1/merge/people", push(0))
            while last.status == 409, refused < 100 {
                refused += 1
                last = try await client.post("/v1/merge/people", push(refused))
            }
            #expect(last.status == 429 && last.headers["retry-after"] != nil, "\(last.status) after \(refused)")
            #expect(try last.json()["code"]?.text == "over-journal" && last.json()["retry"]?.bool == true)
            #expect(refused > 3, "a body of a million blanks takes a thousand bytes")
            let entries = try await client.get("/v1/journal?refused=true&limit=1000").json()["entries"]?.array.count
            #expect(entries == refused, "nothing was kept of the last")
            let whole = try await client.get("/v1/journal/1")
            #expect(whole.text.contains(#""new":"p0""#), "and it can be read")
            #expect(try await client.get("/metrics").text.contains("fieldmerge_journal_written_bytes_total"))
            #expect(try await client.get("/v1/records/people/1").status == 200, "reading goes on")
        }
    }
}
