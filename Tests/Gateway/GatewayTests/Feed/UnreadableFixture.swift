import MergeService
import TestSupport

@testable import Gateway

/// Customers of whom some cannot be read: 3 has an impossible date, 5 two rows of a singleton, 7 more orders than a record
/// may have.
enum UnreadableFixture {
    static let bad = [3, 5, 7]
    static let badNames: Set<String> = ["customers/3", "customers/5", "customers/7"]

    private static let tables = """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20), born DATE, area INTEGER NOT NULL DEFAULT 1);
        CREATE TABLE profiles (id INTEGER PRIMARY KEY, customer INTEGER, motto VARCHAR(20));
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, title VARCHAR(20));

        """

    private static let rows: String = {
        let customers = (1...9).map { "(\($0), 'c\($0)', '2001-01-0\($0)')" }.joined(separator: ", ")
        let orders = (1...6).map { "(\(70 + $0), 7, 'o')" }.joined(separator: ", ")
        return """
            INSERT INTO customers (id, name, born) VALUES \(customers);
            INSERT INTO profiles VALUES (1, 1, 'm'), (51, 5, 'm'), (52, 5, 'n');
            INSERT INTO orders VALUES (11, 1, 'o'), (31, 3, 'o'), (51, 5, 'o'), \(orders);

            """
    }()

    private static func breaking(_ kind: TestEngine) -> String {
        kind == .mariadb
            ? "SET sql_mode = 'ALLOW_INVALID_DATES'; UPDATE customers SET born = '2001-02-31' WHERE id = 3;"
            : "UPDATE customers SET born = CAST(x'ff' AS TEXT) WHERE id = 3;"
    }

    private static func sql(_ kind: TestEngine) -> String { tables + rows + breaking(kind) }

    static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer: {table: customers, groups: {name: name, born: born}, read-only: {area: area}}
          profile: {table: profiles, parent: customer, groups: {motto: motto}}
          orders: {list: true, table: orders, parent: customer, groups: {title: title}}

        """
    ]

    /// Runs a gateway that has scanned all rows once, with five rows a list.
    static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql(.mariadb), sqlite: sql(.sqlite))
        try await RunningGateway.with(database, rules: rules, journal: .together, configure: configure) {
            gateway async throws in
            try await gateway.client { client async throws in
                try await client.hasScanned()
                try await body(client, database)
            }
        }
    }

    private static func configure(_ configuration: inout GatewayConfiguration) {
        ScanFixture.configure(&configuration)
        configuration.merge.rowsPerRecord = 5
    }

    /// Makes all customers readable, as another program.
    static func repair(_ database: TestDatabase) async throws {
        try await database.run(
            "UPDATE customers SET born = '2001-02-03' WHERE id = 3; DELETE FROM profiles WHERE id = 52;"
                + "DELETE FROM orders WHERE id = 76;")
    }

    static func rename(_ id: Int, _ new: String) -> String {
        FeedFixture.edit("customers", id, "name", "\"c\(id)\"", "\"\(new)\"")
    }

    static func retitle(_ order: Int, of id: Int, _ new: String) -> String {
        #"{"resource":"customers","id":\#(id),"changeset":{"orders":[{"id":\#(order),"title":{"old":"o","new":"\#(new)"}}]}}"#
    }
}

extension JSON {
    /// The record is unreadable, and all other members follow the contract.
    var isUnreadable: Bool {
        self["record"]?.isNull == true && self["problem"]?["code"]?.text == "unreadable-record"
    }
}
