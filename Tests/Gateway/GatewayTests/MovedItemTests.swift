import Testing
import TestSupport

/// Items that a later edit of the same push moves to another record.
@Suite(.timeLimit(.minutes(2))) struct MovedItemTests {
    private static let sql = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE order_lines (id INTEGER PRIMARY KEY, order_no INTEGER NOT NULL, article VARCHAR(20));
        INSERT INTO orders VALUES (1, 'a'), (2, 'b');
        INSERT INTO order_lines VALUES (1, 1, 'tea'), (2, 1, 'rice');
        """
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, groups: {name: name}}
          lines: {list: true, table: order_lines, parent: {order_no: id}, groups: {article: article}}
        """,
        "lines.yaml": """
        resource: lines
        sections:
          line: {table: order_lines, groups: {order_no: order_no, article: article}}
        """,
    ]

    @Test(
        "The written value of a moved item is that of the database", arguments: TestEngine.allCases,
        [
            (#""order_no": {"old": 1, "new": 2}"#, "coffee"),
            (#""order_no": {"old": 1, "new": 2}, "article": {"old": "coffee", "new": "milk"}"#, "milk"),
        ])
    func written(_ kind: TestEngine, _ sample: (later: String, written: String)) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let push = """
                    {"edits": [
                      {"resource": "orders", "id": 1, "changeset": {
                        "lines": [{"id": 1, "article": {"old": "other", "new": "coffee"}}]}},
                      {"resource": "lines", "id": 1, "changeset": {"line": {\(sample.later)}}}]}
                    """
                let answer = try await client.post("/v1/push", push)
                let outcome = try answer.json()["results"]?[0]?["outcomes"]?[0]
                #expect(outcome?["written"]?.text == sample.written, "\(answer.text)")
                let stored = try await database.run("SELECT order_no, article FROM order_lines WHERE id = 1")
                #expect(stored == "2\t\(sample.written)\n")
            }
        }
    }

    @Test("An item that another record contains is missing, with nothing written", arguments: TestEngine.allCases)
    func elsewhere(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql, sqlite: Self.sql)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let push = """
                    {"edits": [
                      {"resource": "lines", "id": 1, "changeset": {"line": {"order_no": {"old": 1, "new": 2}}}},
                      {"resource": "orders", "id": 1, "changeset": {
                        "lines": [{"id": 1, "article": {"old": "tea", "new": "coffee"}}]}},
                      {"resource": "orders", "id": 2, "changeset": {
                        "lines": [{"id": 1, "article": {"old": "tea", "new": "coffee"}}]}}]}
                    """
                let answer = try await client.post("/v1/push", push)
                let outcome = try answer.json()["results"]?[1]?["outcomes"]?[0]
                #expect(outcome?["outcome"]?.text == "missing", "\(answer.text)")
                #expect(outcome?["written"]?.isNull == true, "\(answer.text)")
            }
        }
    }
}
