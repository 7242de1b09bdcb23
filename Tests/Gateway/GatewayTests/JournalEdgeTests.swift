import MergeService
import Operations
import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// The journal in unusual situations, on both engines.
@Suite struct JournalEdgeTests {
    private static func with(
        _ kind: TestEngine, rules: [String: String] = JournalTests.rules,
        configure: (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: rules, journal: .together, configure: configure) {
            gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    /// The stored answer is returned, also if the push could not run any more.
    @Test("A known key returns its answer after any change of the record", arguments: TestEngine.allCases)
    func knownKey(_ kind: TestEngine) async throws {
        try await Self.with(kind, configure: { $0.merge.rowsPerRecord = 4 }) { client, database in
            let body = JournalTests.edit(#"{"person":{"points":{"old":10,"new":15}}}"#, key: "k")
            let first = try await client.post("/v1/merge/people", body)
            #expect(first.status == 200)
            try await database.run(
                "INSERT INTO items (person, what) VALUES (1, 'a'), (1, 'b'), (1, 'c'), (1, 'd'), (1, 'e');")
            let other = try await client.post("/v1/merge/people", body.replacing(#""key":"k","#, with: "")).json()
            #expect(other["problem"]?["code"]?.text == "unreadable-record", "\(other)")
            let again = try await client.post("/v1/merge/people", body)
            // The record is too large to be read, and the journal has no private value of it.
            #expect(try again.status == 200 && again.json()["record"]?.isNull == true, "\(again.text)")
            #expect(try again.json()["outcomes"] == first.json()["outcomes"])
        }
    }

    @Test("Filters accept any text", arguments: TestEngine.allCases)
    func filters(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            _ = try await client.post(
                "/v1/merge/people", JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"}}}"#))
            for query in ["resource=%C3%BC%F0%9F%98%80", "who=%C3%BC", "who=%25", "resource=People"] {
                let found = try await client.get("/v1/journal?" + query)
                #expect(found.status == 200, "\(query): \(found.text)")
                #expect(try found.json()["entries"]?.array.isEmpty == true)
            }
        }
    }

    /// Groups that a client names without saying that the body is JSON are not overlooked.
    @Test("An undo whose body has no media type is refused")
    func untypedUndo() async throws {
        try await Self.with(.sqlite) { client, database in
            _ = try await client.post(
                "/v1/merge/people",
                JournalTests.edit(#"{"person":{"name":{"old":"Ann","new":"Anna"},"points":{"old":10,"new":15}}}"#))
            let undo = try await client.send(
                .post, "/v1/journal/1/undo", [:], Array(#"{"groups":["person.name"]}"#.utf8))
            #expect(undo.status == 415, "\(undo.text)")
            #expect(try await database.run("SELECT points FROM people WHERE id = 1;") == "15\n")
        }
    }

    /// Private columns of the rules are private in every served table, on every way to its rows.
    @Test("Entries of cascades contain no private values", arguments: TestEngine.allCases)
    func cascades(_ kind: TestEngine) async throws {
        var rules = JournalTests.rules
        rules["notes.yaml"] = """
            resource: notes
            sections:
              note: {table: notes, groups: {txt: {column: txt, private: true}}}
            """
        try await Self.with(kind, rules: rules) { client, _ in
            _ = try await client.post(
                "/v1/merge/people", JournalTests.edit(#"{"person":{"old":{},"new":null}}"#))
            let entry = try await client.get("/v1/journal/1")
            #expect(entry.text.contains("\"notes\"") && !entry.text.contains("n7"), "\(entry.text)")
        }
    }

    @Test("A gateway that cannot create the tables releases the lock", .tags(.mariadb), .needsMariaDB)
    func failedCreation() async throws {
        let database = try await JournalTests.database(.mariadb)
        let user = "l_" + database.name
        try await database.run(
            """
            CREATE DATABASE late_\(database.name);
            CREATE USER '\(user)'@'localhost';
            GRANT SELECT ON \(database.name).* TO '\(user)'@'localhost';
            GRANT SELECT ON late_\(database.name).* TO '\(user)'@'localhost';
            """)
        let poor = try database.asUser(user).engine()
        let opener = JournalOpener(engine: poor, schema: "late_" + database.name)
        await #expect(throws: StoreError.self) { _ = try await opener.open() }
        let rich = try database.asRoot.engine()
        _ = try await JournalOpener(engine: rich, schema: "late_" + database.name).open()
        await rich.close()
        await poor.close()
    }

    @Test("A partial push can be sent again after its key is forgotten", arguments: TestEngine.allCases)
    func forgottenKey(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let pushed = try await client.post(
                "/v1/push",
                """
                {"key":"k","atomic":"edit","edits":[
                 {"resource":"people","id":1,"changeset":{"items":[{"id":-1,"old":null,"new":{"what":"Corn"}}]}},
                 {"resource":"people","id":2,"changeset":{"person":{"email":{"old":"b@x","new":"a@x"}}}}]}
                """)
            #expect(pushed.status == 207)
            let engine = try database.engine(journal: true)
            let schema =
                kind == .sqlite ? JournalTables.attachedName : "fieldmerge_" + database.name
            let journal = try await JournalOpener(engine: engine, schema: schema).open()
            let table = kind == .mariadb ? "\(schema).entries" : "\(database.name).fieldmerge"
            if kind == .mariadb {
                try await database.run("UPDATE \(table) SET at = '2020-01-01';")
            } else {
                try await Shell.run(["sqlite3", table, "UPDATE entries SET at = '2020-01-01 00:00:00.000';"])
            }
            let pruning = JournalPruning(
                journal: journal, keyDays: 30, entryDays: 36_500, owner: "test")
            #expect(try await pruning.run() == 0)
            #expect(try await journal.partialAnswer(1, .distant) != nil)
            await engine.close()
            // The key is free again.
            let other = try await client.post("/v1/push", #"{"key":"k","edits":[]}"#)
            #expect(other.status == 200)
        }
    }

    @Test("Pages of allowed origins can send their device, and read whether an answer was stored")
    func browserHeaders() async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together,
            configure: { $0.allowedOrigins = (try? [WebOrigin("https://app.example")]) ?? [] }
        ) { gateway async throws in
            let url = "http://127.0.0.1:\(gateway.port)/v1/push"
            let asked = try await Shell.run(
                [
                    "curl", "-si", "-X", "OPTIONS", url, "-H", "Origin: https://app.example", "-H",
                    "Access-Control-Request-Method: POST",
                ]
            ).lowercased()
            #expect(asked.contains("idempotency-key") && asked.contains("x-device-id"), "\(asked)")
            let answered = try await Shell.run(["curl", "-si", url, "-H", "Origin: https://app.example"])
                .lowercased()
            #expect(answered.contains("idempotent-replayed"), "\(answered)")
        }
    }
}
