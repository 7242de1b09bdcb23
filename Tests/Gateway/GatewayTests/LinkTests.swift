import Gateway
import Testing
import TestSupport

/// Rows that nothing would link to their record.
@Suite struct LinkTests {
    private static let tables = """
        CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, code VARCHAR(20), name VARCHAR(20));
        CREATE TABLE order_lines (id INT NOT NULL PRIMARY KEY, code VARCHAR(20), what VARCHAR(20));
        CREATE TABLE order_notes (code VARCHAR(20) NOT NULL PRIMARY KEY, note VARCHAR(20));
        INSERT INTO orders VALUES (1, NULL, 'a');
        """
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, groups: {name: name}, read-only: {code: code}}
          lines: {table: order_lines, list: true, parent: {code: code}, groups: {what: what}}
          note: {table: order_notes, parent: {code: code}, groups: {note: note}}
        """
    ]

    @Test(
        "A row that nothing would link to its record is refused", arguments: TestEngine.allCases,
        [
            #""lines": [{"id": 7, "old": null, "new": {"what": "w"}}]"#,
            #""note": {"old": null, "new": {"note": "n"}}"#,
            #""order": {"name": {"old": "a", "new": "b"}}, "lines": [{"id": 7, "old": null, "new": {"what": "w"}}]"#,
        ])
    func refused(_ kind: TestEngine, _ changeset: String) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.tables, sqlite: Self.tables)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway in
            try await gateway.client { client in
                let refused = try await client.post("/v1/merge/orders", #"{"id": 1, "changeset": {\#(changeset)}}"#)
                #expect(refused.status == 422, "\(refused.text)")
                let problem = try refused.json()["problem"]
                #expect(problem?["code"]?.text == "not-null" && problem?["retry"]?.bool == false, "\(refused.text)")
                #expect(problem?["fields"]?.array.map(\.text) == ["code"])
            }
            let stored = try await gateway.database.run(
                "SELECT id FROM order_lines; SELECT note FROM order_notes; SELECT name FROM orders;")
            #expect(stored == "a\n")
        }
    }
}
