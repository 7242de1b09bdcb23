import TestSupport
import Testing

@testable import Gateway

/// Rows that very many records show.
@Suite(.timeLimit(.minutes(5))) struct LookupLimitTests {
    private static let rules = [
        "customers.yaml": "resource: customers\nsections: {customer: {table: customers, groups: {name: name}}}\n",
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            groups: {customer: customer}
            lookups: {customerName: {along: customer, column: name}}
        """,
    ]

    private static func tables(_ numbers: String) -> String {
        """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER,
          FOREIGN KEY (customer) REFERENCES customers (id));
        CREATE INDEX by_customer ON orders (customer);
        INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob');
        INSERT INTO orders \(numbers);
        INSERT INTO orders VALUES (300000, 2);
        """
    }

    @Test("A push of a row that too many records show is refused for good", arguments: TestEngine.allCases)
    func limit(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.tables("SELECT seq, 1 FROM seq_1_to_200001"),
            sqlite: Self.tables(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200001) SELECT i, 1 FROM n"))
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                func rename(_ id: Int, _ old: String) async throws -> HTTPClient.Answer {
                    try await client.post(
                        "/v1/merge/customers",
                        #"{"id":\#(id),"changeset":{"customer":{"name":{"old":"\#(old)","new":"Eve"}}}}"#)
                }
                let refused = try await rename(1, "Ann")
                #expect(refused.status == 422, "\(refused.text)")
                #expect(try refused.json()["problem"]?["code"]?.text == "record-too-large", "\(refused.text)")
                #expect(try refused.json()["problem"]?["status"]?.int == 422, "\(refused.text)")
                #expect(refused.text.contains("more than 200000 records of “orders” show the row"), "\(refused.text)")
                #expect(try await client.get("/v1/records/customers/1").text.contains("Ann"))
                #expect(try await rename(2, "Bob").status == 200)
            }
        }
    }
}
