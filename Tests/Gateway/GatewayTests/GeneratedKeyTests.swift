import Testing
import TestSupport

@testable import Gateway

/// The database numbers the rows, not the client.
@Suite struct GeneratedKeyTests {
    private static func with(
        _ kind: TestEngine, allowing: Bool = false,
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        // A row with a private value could not be restored completely.
        var rules = JournalTests.rules.mapValues {
            $0.replacing("secret: {column: secret, private: true}", with: "secret: secret")
        }
        if allowing {
            rules = rules.mapValues {
                $0.replacing("    table: people\n", with: "    table: people\n    client-keys: allow\n")
            }
        }
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func creation(_ id: String) -> String {
        #"{"id":\#(id),"changeset":{"person":{"old":null,"new":{"name":"Cy"}}}}"#
    }

    @Test("A number chosen by a client is refused", arguments: TestEngine.allCases)
    func clientNumber(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            for id in ["2147483647", "\"77\"", "0"] {
                let refused = try await client.post("/v1/merge/people", Self.creation(id))
                #expect(refused.status == 400, "\(refused.text)")
                #expect(try refused.json()["code"]?.text == "generated-key")
                #expect(try refused.json()["path"]?.text == "id")
            }
            let item = try await client.post(
                "/v1/push",
                #"{"edits":[{"resource":"people","id":1,"changeset":{"items":[{"id":9,"old":null,"new":{"what":"x"}}]}}]}"#
            )
            #expect(try item.json()["path"]?.text == "edits[0].changeset.items[0].id", "\(item.text)")
            #expect(try await database.run("SELECT COUNT(*) FROM people;") == "2\n")
            // An existing row is found. A temporary id gets a number.
            #expect(try await client.post("/v1/merge/people", Self.creation("1")).status == 200)
            let made = try await client.post("/v1/merge/people", Self.creation("\"-3\""))
            #expect(try made.json()["ids"]?["-3"]?.int == 3, "\(made.text)")
            let deleted = try await client.post(
                "/v1/merge/people", #"{"id":3,"changeset":{"person":{"old":{},"new":null}}}"#)
            #expect(deleted.status == 200)
            // Neither an undo nor a restoration is a choice of the client's.
            let entries = try await client.get("/v1/journal").json()["entries"]?.array.count ?? 0
            #expect(try await client.post("/v1/journal/\(entries)/undo", "{}").status == 200)
            try await database.run("DELETE FROM people WHERE id = 3;")
            let restored = try await client.post(
                "/v1/merge/people", #"{"id":3,"changeset":{"person":{"name":{"old":"Cy","new":"Cyd"}}}}"#)
            #expect(restored.status == 200, "\(restored.text)")
            #expect(try await database.run("SELECT name FROM people WHERE id = 3;") == "Cyd\n")
        }
    }

    @Test("A push can create a row again that it deletes, and an existing key collides", arguments: TestEngine.allCases)
    func deletedKeys(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let body = """
                {"edits":[{"resource":"people","id":2,"changeset":{"person":{"old":{},"new":null}}},
                  {"resource":"people","id":2,"changeset":{"person":{"old":null,"new":{"name":"Zed"}}}}]}
                """
            let again = try await client.post("/v1/push", body)
            #expect(again.status == 200, "\(again.text)")
            #expect(try await database.run("SELECT name FROM people WHERE id = 2;") == "Zed\n")
        }
    }

    @Test("The rules can allow numbers of clients", arguments: TestEngine.allCases)
    func clientKeys(_ kind: TestEngine) async throws {
        try await Self.with(kind, allowing: true) { client, database in
            let rules = try await client.get("/v1/rules")
            #expect(rules.text.contains(#""clientKeys":"allow""#))
            #expect(try await client.post("/v1/merge/people", Self.creation("77")).status == 200)
            let last = kind == .mariadb ? "2147483647" : "9223372036854775807"
            #expect(try await client.post("/v1/merge/people", Self.creation("\"\(last)\"")).status == 200)
            // Then the counter is at its end, which no client can mend by trying again.
            let none = try await client.post(
                "/v1/merge/people", #"{"changeset":{"person":{"old":null,"new":{"name":"Dee"}}}}"#)
            #expect(none.status == 422, "\(none.text)")
            #expect(try none.json()["problem"]?["code"]?.text == "keys-exhausted")
            #expect(try none.json()["problem"]?["retry"]?.bool == false)
        }
    }
}
