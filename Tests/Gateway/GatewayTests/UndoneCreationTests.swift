import Testing
import TestSupport

/// Undo of a creation after other pushes have added rows to the record.
@Suite(.timeLimit(.minutes(3))) struct UndoneCreationTests {
    private static let tables = """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, title VARCHAR(20));
        CREATE TABLE order_lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, name VARCHAR(20));
        CREATE TABLE seals (order_id INTEGER PRIMARY KEY, name VARCHAR(20));
        """
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order: {table: orders, client-keys: allow, groups: {title: title}}
          seal: {table: seals, parent: {order_id: id}, groups: {name: name}}
          lines: {list: true, table: order_lines, client-keys: allow, parent: {order_id: id}, groups: {name: name}}
        """
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: tables, sqlite: tables)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    private static func merge(_ client: HTTPClient.Session, _ changeset: String) async throws {
        let answer = try await client.post("/v1/merge/orders", #"{"id":1,"changeset":{\#(changeset)}}"#)
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static let root = #""order":{"old":null,"new":{"title":"t"}}"#
    private static func line(_ id: Int) -> String {
        #""lines":[{"id":\#(id),"old":null,"new":{"name":"n\#(id)"}}]"#
    }
    private static let seal = #""seal":{"old":null,"new":{"name":"s"}}"#

    private static let count =
        "SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM order_lines), (SELECT COUNT(*) FROM seals);"

    @Test("A record with rows of later pushes is kept", arguments: TestEngine.allCases, [line(7), seal])
    func laterRows(_ kind: TestEngine, _ addition: String) async throws {
        try await Self.with(kind) { client, database in
            try await Self.merge(client, Self.root)
            try await Self.merge(client, addition)
            let before = try await database.run(Self.count)
            let undo = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undo.status == 200 && undo.text.contains(#""outcome":"kept""#), "\(undo.text)")
            #expect(try await database.run(Self.count) == before)
            let forced = try await client.post("/v1/journal/1/undo", #"{"force":true}"#)
            #expect(forced.status == 200, "\(forced.text)")
            #expect(try await database.run(Self.count) == "0\t0\t0\n", "\(forced.text)")
        }
    }

    @Test("A record without later rows is deleted with the rows of its entry", arguments: TestEngine.allCases)
    func ownRows(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await Self.merge(client, [Self.root, Self.line(7), Self.seal].joined(separator: ","))
            let undo = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undo.status == 200 && !undo.text.contains("conflict"), "\(undo.text)")
            #expect(try await database.run(Self.count) == "0\t0\t0\n")
        }
    }

    @Test("A record of which a row was changed later is kept", arguments: TestEngine.allCases)
    func changedRow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await Self.merge(client, [Self.root, Self.line(7), Self.seal].joined(separator: ","))
            try await Self.merge(client, #""lines":[{"id":7,"name":{"old":"n7","new":"m"}}]"#)
            let undo = try await client.post("/v1/journal/1/undo", "{}")
            #expect(undo.status == 200 && undo.text.contains(#""outcome":"kept""#), "\(undo.text)")
            #expect(try await database.run(Self.count) == "1\t1\t0\n")
        }
    }
}
