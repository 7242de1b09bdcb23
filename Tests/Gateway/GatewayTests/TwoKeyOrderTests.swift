import Testing
import TestSupport

/// The order of edits that name one row by two keys.
@Suite(.timeLimit(.minutes(5))) struct TwoKeyOrderTests {
    private static let sql = """
        CREATE TABLE areas (id INTEGER PRIMARY KEY /*numbered*/, name VARCHAR(20));
        CREATE TABLE orders (id INT PRIMARY KEY, number INT NOT NULL UNIQUE, note VARCHAR(20), area INT);
        INSERT INTO orders VALUES (1, 11, 'a', NULL), (2, 12, 'a', NULL);
        """
    private static let rules = [
        "areas.yaml": """
        resource: areas
        sections:
          area: {table: areas, groups: {name: name}}
        """,
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, groups: {note: note, area: {column: area, references: areas}}}
        """,
        "tickets.yaml": """
        resource: tickets
        sections:
          ticket: {table: orders, key: number, groups: {note: note}}
        """,
    ]

    private static func waits(_ id: Int) -> String {
        """
        {"resource":"orders","id":\(id),"changeset":{"order":{"note":{"old":"a","new":"b"},
          "area":{"old":null,"new":"tmp:x"}}}}
        """
    }
    private static func ticket(_ number: Int) -> String {
        #"{"resource":"tickets","id":\#(number),"changeset":{"ticket":{"note":{"old":"b","new":"c"}}}}"#
    }
    private static let makes =
        #"{"resource":"areas","id":"tmp:x","changeset":{"area":{"old":null,"new":{"name":"n"}}}}"#

    @Test(
        "Edits of a row keep their order if they name it by two keys and the first one waits",
        arguments: TestEngine.allCases)
    func twoKeys(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.sql.replacing("/*numbered*/", with: "AUTO_INCREMENT"), sqlite: Self.sql)
        let answer = try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway in
            try await gateway.client {
                try await $0.post(
                    "/v1/push", #"{"edits":[\#(Self.waits(1)),\#(Self.ticket(11)),\#(Self.makes)]}"#)
            }
        }
        let outcomes = try answer.json()["results"]?.array.map { result in
            result["outcomes"]?.array.compactMap { $0["outcome"]?.text } ?? []
        }
        #expect(outcomes == [["applied", "applied"], ["applied"], ["inserted"]], "\(answer.text)")
        #expect(try await database.run("SELECT note FROM orders WHERE id = 1;") == "c\n")
    }
}
