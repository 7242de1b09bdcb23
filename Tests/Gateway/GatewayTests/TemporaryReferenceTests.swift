import Testing
import TestSupport

/// A temporary id in a field of another type than the key.
@Suite(.timeLimit(.minutes(2))) struct TemporaryReferenceTests {
    private static let sql = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY %, name VARCHAR(20));
        CREATE TABLE order_lines (id INTEGER PRIMARY KEY %, order_no BIGINT UNSIGNED, name VARCHAR(20));
        """
    private static let rules = [
        "orders.yaml": "resource: orders\nsections:\n  order: {table: orders, groups: {name: name}}\n",
        "lines.yaml": """
        resource: lines
        sections:
          line: {table: order_lines, groups: {order: {column: order_no, references: orders}, name: name}}
        """,
    ]

    private static let push = """
        {"edits":[
          {"resource":"orders","id":"tmp:o","changeset":{"order":{"old":null,"new":{"name":"first"}}}},
          {"resource":"lines","id":"tmp:l","changeset":{"line":{"old":null,"new":{"order":"tmp:o","name":"nails"}}}}]}
        """

    @Test("Every database user gets the same answer to a temporary id", arguments: TestEngine.allCases)
    func users(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.sql.replacing("%", with: "AUTO_INCREMENT"), sqlite: Self.sql.replacing("%", with: ""))
        for user in kind == .mariadb
            ? [database, try await database.withRight("TRIGGER"), database.asRoot] : [database]
        {
            try await RunningGateway.with(user, rules: Self.rules) { gateway async throws in
                try await gateway.client { client async throws in
                    let answer = try await client.post("/v1/push", Self.push)
                    #expect(answer.status == 200, "\(user.account): \(answer.text)")
                    let results = try answer.json()["results"]
                    let order = try #require(results?[0]?["id"]?.int)
                    #expect(results?[1]?["record"]?["line"]?["order"]?.int == order, "\(answer.text)")
                }
            }
        }
        #expect(
            try await database.run("SELECT COUNT(*) FROM orders JOIN order_lines ON order_no = orders.id;") != "0\n")
    }
}
