import Testing
import TestSupport

/// Two resources read one column with different types.
@Suite(.timeLimit(.minutes(2))) struct SharedColumnTests {
    private static let table = """
        CREATE TABLE stock (id INT PRIMARY KEY, amount DECIMAL(10,0) NOT NULL, name VARCHAR(20) NOT NULL);
        INSERT INTO stock VALUES (1, 6, 'nails'), (2, 1234567890, 'screws'), (3, -5, 'bolts');
        """
    private static let rules = [
        "amounts.yaml": """
        resource: amounts
        sections:
          stock: {table: stock, groups: {amount: amount, name: name}}
        """,
        "counters.yaml": """
        resource: counters
        sections:
          stock: {table: stock, groups: {amount: {column: amount, type: integer, merge: add}, name: name}}
        """,
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: table, sqlite: table)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    /// In both orders, because the second resource uses the connection of the first.
    @Test(
        "A DECIMAL column that two resources share is added to exactly", arguments: TestEngine.allCases, [true, false])
    func sharedDecimalIsAddedTo(_ kind: TestEngine, _ decimalFirst: Bool) async throws {
        try await Self.with(kind) { client, database in
            for name in decimalFirst ? ["amounts", "counters"] : ["counters", "amounts"] {
                for id in 1...3 { #expect(try await client.get("/v1/records/\(name)/\(id)").status == 200) }
                #expect(try await client.get("/v1/records/\(name)").status == 200)
            }
            for id in 1...3 {
                let amounts = try await client.get("/v1/records/amounts/\(id)").json()
                let counters = try await client.get("/v1/records/counters/\(id)").json()
                let expected = [6, 1_234_567_890, -5][id - 1]
                #expect(amounts["stock"]?["amount"]?.text == "\(expected)")
                #expect(counters["stock"]?["amount"]?.int == expected)
            }
            let added = try await client.post(
                "/v1/merge/counters", #"{"id":1,"changeset":{"stock":{"amount":{"old":6,"new":7}}}}"#)
            #expect(added.status == 200, "\(added.text)")
            #expect(try added.json()["record"]?["stock"]?["amount"]?.int == 7)
            #expect(try await database.run("SELECT amount FROM stock WHERE id = 1;") == "7\n")
            let again = try await client.post(
                "/v1/merge/counters", #"{"id":1,"changeset":{"stock":{"amount":{"old":6,"new":8}}}}"#)
            #expect(try again.json()["outcomes"]?[0]?["outcome"]?.text == "combined", "\(again.text)")
            #expect(try await database.run("SELECT amount FROM stock WHERE id = 1;") == "9\n")
            let set = try await client.post(
                "/v1/merge/amounts", #"{"id":1,"changeset":{"stock":{"amount":{"old":"9","new":"12"}}}}"#)
            #expect(try set.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(set.text)")
            #expect(try await database.run("SELECT amount FROM stock WHERE id = 1;") == "12\n")
        }
    }

    @Test("A row whose DECIMAL column is an integer in the rules can be deleted", arguments: TestEngine.allCases)
    func integerOnDecimalIsDeleted(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            #expect(try await client.get("/v1/records/amounts").status == 200)
            for (id, amount) in [(1, 6), (2, 1_234_567_890)] {
                let answer = try await client.post(
                    "/v1/merge/counters",
                    #"{"id":\#(id),"changeset":{"stock":{"old":{"amount":\#(amount)},"new":null}}}"#)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "deleted", "\(answer.text)")
            }
            #expect(try await database.run("SELECT id FROM stock;") == "3\n")
        }
    }
}
