import TestSupport
import Testing

/// Two rows with the same unique values.
@Suite(.timeLimit(.minutes(5))) struct CollisionTests {
    private static let sql = """
        CREATE TABLE areas (id INTEGER PRIMARY KEY /*numbered*/, name VARCHAR(20) UNIQUE);
        CREATE TABLE people (id INT PRIMARY KEY);
        CREATE TABLE cards (id INTEGER PRIMARY KEY /*numbered*/, person INT NOT NULL, code VARCHAR(20) UNIQUE);
        INSERT INTO areas (id, name) VALUES (102, 'South');
        INSERT INTO people VALUES (1);
        """
    private static let rules = [
        "areas.yaml": """
        resource: areas
        sections:
          area: {table: areas, groups: {name: name}}
        """,
        "people.yaml": """
        resource: people
        sections:
          person: {table: people}
          cards: {list: true, table: cards, parent: {person: id}, groups: {code: code}}
        """,
    ]

    private static func area(_ id: String, _ name: String) -> String {
        #"{"resource":"areas","id":"tmp:\#(id)","changeset":{"area":{"old":null,"new":{"name":"\#(name)"}}}}"#
    }

    private static func cards(_ codes: [String], from first: Int = 0) -> String {
        let items = codes.enumerated().map { #"{"id":"tmp:\#(first + $0)","old":null,"new":{"code":"\#($1)"}}"# }
        return #"{"resource":"people","id":1,"changeset":{"cards":[\#(items.joined(separator: ","))]}}"#
    }

    @Test(
        "A collision names the colliding row, unless the refused push created it",
        arguments: TestEngine.allCases,
        [
            ([area("a", "East"), area("b", "East")], false), ([area("a", "South")], true),
            ([cards(["x", "x"])], false), ([cards(["x"]), cards(["x"], from: 1)], false),
        ])
    func collidingRow(_ kind: TestEngine, _ push: (edits: [String], isNamed: Bool)) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.sql.replacing("/*numbered*/", with: "AUTO_INCREMENT"), sqlite: Self.sql)
        let answer = try await RunningGateway.with(database, rules: Self.rules, journal: .together) {
            gateway async throws in
            try await gateway.client {
                try await $0.post("/v1/push", #"{"edits":[\#(push.edits.joined(separator: ","))]}"#)
            }
        }
        let problem = try answer.json()["results"]?.array.last?["problem"]
        #expect(problem?["code"]?.text == "unique", "\(answer.text)")
        #expect((problem?["record"] != nil) == push.isNamed, "\(answer.text)")
    }
}
