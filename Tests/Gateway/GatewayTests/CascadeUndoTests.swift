import Testing
import TestSupport

/// Undo of writes that changed rows of other tables along.
@Suite struct CascadeUndoTests {
    private static let sql = """
        CREATE TABLE customers (id INTEGER NOT NULL PRIMARY KEY, no INTEGER NOT NULL UNIQUE, name VARCHAR(20));
        CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, customer INTEGER, note VARCHAR(20), pin VARCHAR(20),
          FOREIGN KEY (customer) REFERENCES customers (no) ON UPDATE CASCADE ON DELETE SET NULL);
        INSERT INTO customers VALUES (1, 7, 'Ann'), (2, 9, 'Bob');
        INSERT INTO orders VALUES (1, 7, 'parcel', 'pin-1'), (2, 9, 'letter', 'pin-2');
        """
    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer: {table: customers, groups: {no: no, name: name}}
        """,
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            groups: {customer: customer, note: note, pin: {column: pin, private: true}}
        """,
    ]

    private static func with(
        _ kind: TestEngine, _ sql: String = sql,
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static let change = #"{"id":1,"changeset":{"customer":{"no":{"old":7,"new":8}}}}"#
    private static let deletion = #"{"id":1,"changeset":{"customer":{"old":{"name":"Ann"},"new":null}}}"#

    @Test(
        "An undo needs no private column of rows that changed along", arguments: TestEngine.allCases,
        [change, deletion])
    func privateColumns(_ kind: TestEngine, _ edit: String) async throws {
        try await Self.with(kind) { client, database in
            let rows = "SELECT * FROM customers ORDER BY id; SELECT * FROM orders ORDER BY id;"
            let before = try await database.run(rows)
            let written = try await client.post("/v1/merge/customers", edit)
            #expect(written.status == 200, "\(written.text)")
            #expect(try await database.run(rows) != before)
            let kept = try await UndoColumnsTests.journal(database)
            #expect(!UndoColumnsTests.contains("parcel", kept), "the journal keeps keys and links of such rows only")
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await database.run(rows) == before)
        }
    }

    @Test("Rows are found whose foreign key spells columns in another case", arguments: TestEngine.allCases)
    func spelling(_ kind: TestEngine) async throws {
        let sql = Self.sql.replacing(
            "(customer) REFERENCES customers (no)", with: "(CUSTOMER) REFERENCES customers (NO)")
        try await Self.with(kind, sql) { client, _ in
            let start = try await client.position()
            let gone = try await client.post("/v1/merge/customers", Self.deletion)
            #expect(gone.status == 200 && gone.text.contains("\"orders\""), "\(gone.text)")
            #expect(Set(try await client.changes(after: start).names) == ["customers/1", "orders/1"])
        }
    }

    @Test("An undo is refused if only the reference that was cleared names the rows", arguments: TestEngine.allCases)
    func rowsWithoutKey(_ kind: TestEngine) async throws {
        let cards = """
            CREATE TABLE cards (customer INTEGER, name VARCHAR(20),
              FOREIGN KEY (customer) REFERENCES customers (no) ON DELETE SET NULL);
            INSERT INTO cards VALUES (7, 'gold');
            """
        try await Self.with(kind, Self.sql + cards) { client, database in
            let gone = try await client.post("/v1/merge/customers", Self.deletion)
            #expect(gone.status == 200, "\(gone.text)")
            let undone = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undone.text.contains("not-undoable") && undone.text.contains("“cards”"), "\(undone.text)")
            #expect(try await database.run("SELECT id FROM customers;") == "2\n")
        }
    }
}
