import Testing
import TestSupport

/// A push edits, deletes and creates a row.
///
/// Checks of the new row do not use the old one.
@Suite struct RecreatedRowTests {
    private static let tables = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, name VARCHAR(20));
        CREATE TABLE positions (id INTEGER PRIMARY KEY, order_no INTEGER NOT NULL, qty INTEGER NOT NULL,
          FOREIGN KEY (order_no) REFERENCES orders (id) ON DELETE CASCADE);
        INSERT INTO orders VALUES (3, 'a'), (4, 'b');
        INSERT INTO positions VALUES (7, 3, 1);
        """

    private static let positions = """
        resource: positions
        sections:
          position:
            table: positions
            client-keys: allow
            groups: {order: order_no, qty: qty}
            checks: [{name: small, sql: qty < 100, fields: [qty], on-failure: server-wins}]
        """

    private static let orders = "resource: orders\nsections:\n  order: {table: orders, groups: {name: name}}\n"

    private static let ordersWithList = """
        resource: orders
        sections:
          order: {table: orders, groups: {name: name}}
          positions:
            list: true
            parent: {order_no: id}
            table: positions
            client-keys: allow
            groups: {qty: qty}
        """

    private static let edit =
        #"{"resource":"positions","id":7,"changeset":{"position":{"qty":{"old":1,"new":2}}}}"#

    private static func creation(_ quantity: Int) -> String {
        #"{"resource":"positions","id":7,"changeset":{"position":{"old":null,"new":{"order":4,"qty":\#(quantity)}}}}"#
    }

    private static func with(
        _ kind: TestEngine, orders: String,
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: tables, sqlite: tables)
        try await RunningGateway.with(
            database, rules: ["positions.yaml": positions, "orders.yaml": orders], journal: .together
        ) { gateway async throws in
            try await gateway.client { client async throws in try await body(client, database) }
        }
    }

    @Test("A check refuses a row that was deleted by a cascade and created again", arguments: TestEngine.allCases)
    func cascade(_ kind: TestEngine) async throws {
        try await Self.with(kind, orders: Self.orders) { client, database async throws in
            let deletion = #"{"resource":"orders","id":3,"changeset":{"order":{"old":{"name":"a"},"new":null}}}"#
            let answer = try await client.post(
                "/v1/push", #"{"key":"k","edits":[\#(Self.edit),\#(deletion),\#(Self.creation(500))]}"#)
            #expect(answer.status == 422, "\(answer.text)")
            #expect(try answer.json()["results"]?[2]?["problem"]?["code"]?.text == "check", "\(answer.text)")
            #expect(try await database.run("SELECT order_no, qty FROM positions;") == "3\t1\n")
            let small = try await client.post(
                "/v1/push", #"{"key":"l","edits":[\#(Self.edit),\#(deletion),\#(Self.creation(5))]}"#)
            #expect(small.status == 200, "\(small.text)")
            #expect(try await database.run("SELECT order_no, qty FROM positions;") == "4\t5\n")
        }
    }

    @Test("A check reverts nothing of a row that another resource created again", arguments: TestEngine.allCases)
    func otherResource(_ kind: TestEngine) async throws {
        try await Self.with(kind, orders: Self.ordersWithList) { client, database async throws in
            let deletion =
                #"{"resource":"orders","id":3,"changeset":{"positions":[{"id":7,"old":{"qty":2},"new":null}]}}"#
            let creation =
                #"{"resource":"orders","id":4,"changeset":{"positions":[{"id":7,"old":null,"new":{"qty":500}}]}}"#
            let answer = try await client.post(
                "/v1/push", #"{"key":"k","edits":[\#(Self.edit),\#(deletion),\#(creation)]}"#)
            #expect(answer.status == 200, "\(answer.text)")
            // The list has no check. The answer has the value of the database.
            #expect(try await database.run("SELECT order_no, qty FROM positions;") == "4\t500\n")
            #expect(try answer.json()["results"]?[2]?["record"]?["positions"]?[0]?["qty"]?.int == 500, "\(answer.text)")
        }
    }
}
