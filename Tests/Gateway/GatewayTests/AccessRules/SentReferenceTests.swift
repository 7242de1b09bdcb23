import Operations
import TestSupport
import Testing

/// References to hidden rows fail if a client sends them, and succeed if rules or the journal choose them.
@Suite(.timeLimit(.minutes(5))) struct SentReferenceTests {
    private static func tables(_ key: String) -> String {
        """
        CREATE TABLE areas (id INTEGER PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE shops (id \(key), name VARCHAR(20), area INTEGER, second INTEGER,
          FOREIGN KEY (area) REFERENCES areas (id), FOREIGN KEY (second) REFERENCES areas (id));
        INSERT INTO areas VALUES (1, 'North'), (2, 'South');
        INSERT INTO shops VALUES (1, 'Tea', 1, 1);
        """
    }

    private static let rules = [
        "areas.yaml": """
        resource: areas
        sections: {area: {table: areas, groups: {name: name}}}
        access: {office: {read: all, write: all, create: true, delete: true, rows: all}}
        """,
        "shops.yaml": """
        resource: shops
        sections:
          shop: {table: shops, on-missing: restore, groups: {name: name, area: area, second: second}}
        access:
          agent:
            read: [shop.name, shop.second]
            write: [shop.name, shop.second]
            create: true
            delete: true
            rows: all
            set: {area: {claim: area}}
        """,
    ]

    @Test(
        "A creation may refer to a hidden row by a claim, but not by a value that it sends",
        arguments: TestEngine.allCases)
    func claims(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.tables("INTEGER PRIMARY KEY AUTO_INCREMENT"), sqlite: Self.tables("INTEGER PRIMARY KEY")
        )
        let agent = Rounds.Client("ada", ["agent"], claims: #"{"area": 2}"#)
        try await RunningGateway.with(database, rules: Self.rules, tokens: agent.line, journal: .together) { gateway in
            func create(_ new: String) async throws -> HTTPClient.Answer {
                try await gateway.post(
                    "/v1/merge/shops", #"{"id":"tmp:a","changeset":{"shop":{"old":null,"new":\#(new)}}}"#, as: agent)
            }
            let made = try await create(#"{"name":"Rice"}"#)
            #expect(made.status == 200, "\(made.text)")
            #expect(try await database.run("SELECT area FROM shops WHERE name = 'Rice';") == "2\n")
            let refused = try await create(#"{"name":"Corn","second":1}"#)
            #expect(refused.status == 422, "\(refused.text)")
            #expect(try refused.json()["problem"]?["code"]?.text == "foreign-key", "\(refused.text)")
        }
    }

    @Test("A restored row keeps its reference to a hidden row", arguments: TestEngine.allCases)
    func restoring(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.tables("INTEGER PRIMARY KEY AUTO_INCREMENT"), sqlite: Self.tables("INTEGER PRIMARY KEY")
        )
        let agent = Rounds.Client("ada", ["agent"], claims: #"{"area": 2}"#)
        try await RunningGateway.with(database, rules: Self.rules, tokens: agent.line, journal: .together) { gateway in
            func merge(_ changeset: String) async throws -> HTTPClient.Answer {
                try await gateway.post("/v1/merge/shops", #"{"id":1,"changeset":{"shop":\#(changeset)}}"#, as: agent)
            }
            let deleted = try await merge(#"{"old":{"name":"Tea"},"new":null}"#)
            #expect(deleted.status == 200, "\(deleted.text)")
            let back = try await merge(#"{"name":{"old":"Tea","new":"Teas"}}"#)
            #expect(try back.json()["outcomes"]?[0]?["outcome"]?.text == "restored", "\(back.text)")
            let row = try await database.run("SELECT name, area, second FROM shops WHERE id = 1;")
            #expect(row == "Teas\t1\t1\n", "\(row)")
        }
    }
}
