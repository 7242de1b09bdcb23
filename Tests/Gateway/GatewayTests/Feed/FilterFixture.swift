import Foundation
import Testing
import TestSupport

/// Orders with their lines, and customers.
enum FilterFixture {
    static func sql(_ kind: TestEngine) -> String {
        let status = kind == .mariadb ? "ENUM('open', 'late', 'done') NOT NULL" : "VARCHAR(10) NOT NULL"
        let tags = kind == .mariadb ? "SET('heavy', 'cold')" : "VARCHAR(40)"
        return """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE orders (id INTEGER PRIMARY KEY, status \(status), scheduled DATE, area INTEGER,
              weight DECIMAL(8,2) NOT NULL DEFAULT 1, urgent BOOLEAN NOT NULL DEFAULT 0, title VARCHAR(20), tags \(tags));
            CREATE TABLE order_lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, name VARCHAR(20));
            INSERT INTO customers VALUES (1, 'Ann');
            INSERT INTO orders VALUES
              (1, 'open', '2026-11-01', 7, 1.50, 1, 'Beans', 'cold'),
              (2, 'late', '2026-11-30', NULL, 2.00, 0, 'beans', 'heavy'),
              (3, 'done', '2026-12-01', 8, 10.00, 0, NULL, NULL),
              (4, 'open', NULL, 9, 2.50, 1, 'Béans', 'heavy,cold');
            INSERT INTO order_lines VALUES (1, 1, 'x'), (2, 3, 'y');
            """
    }

    static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            client-keys: allow
            groups:
              status: status
              scheduled: scheduled
              area: area
              weight: weight
              urgent: {column: urgent, type: boolean}
              title: title
              tags: {column: tags, type: set}
          lines: {list: true, table: order_lines, client-keys: allow, parent: {order_id: id}, groups: {name: name}}
        """,
        "customers.yaml": "resource: customers\nsections:\n  customer: {table: customers, groups: {name: name}}\n",
    ]

    static func database(_ kind: TestEngine) async throws -> TestDatabase {
        try await TestDatabase(kind, mariadb: sql(.mariadb), sqlite: sql(.sqlite))
    }

    static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session) async throws -> Void
    ) async throws {
        try await RunningGateway.with(try await database(kind), rules: rules, journal: .together) {
            gateway async throws in
            try await gateway.client { try await body(gateway, $0) }
        }
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// The member of a query.
    static func query(_ filter: String?) -> String { filter.map { "filter=" + encoded($0) } ?? "" }

    static let open = #"{"orders": {"order.status": ["open", "late"]}}"#

    static func edit(_ id: Int, _ field: String, _ old: String, _ new: String) -> String {
        #"{"resource":"orders","id":\#(id),"changeset":{"order":{"\#(field)":{"old":\#(old),"new":\#(new)}}}}"#
    }
}

/// A client with a filter that stores the records it receives.
struct FilteredClient {
    let session: HTTPClient.Session
    var filter: String?
    var feed = ""
    var revision = 0
    /// Records by resource and id.
    var records: [String: JSON] = [:]

    init(_ session: HTTPClient.Session, _ filter: String?) async throws {
        self.session = session
        self.filter = filter
        try await snapshot()
    }

    /// The ids of its orders.
    var orders: [Int] { ids("orders") }

    func ids(_ resource: String) -> [Int] {
        records.keys.filter { $0.hasPrefix(resource + "/") }.compactMap { Int($0.dropFirst(resource.count + 1)) }
            .sorted()
    }

    /// Reads a snapshot and returns the names that it reports; those of records that left begin with a minus sign.
    ///
    /// - Parameter unless: the earlier feed; nil for a complete snapshot.
    @discardableResult
    mutating func snapshot(unless: String? = nil) async throws -> [String] {
        // A sync waits for all earlier commits.
        _ = try await session.post("/v1/sync", "{}")
        let query = [FilterFixture.query(filter), unless.map { "unless=" + FilterFixture.encoded($0) } ?? ""]
            .filter { !$0.isEmpty }.joined(separator: "&")
        let answer = try await session.get("/v1/snapshot?" + query)
        guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
        if unless == nil { records = [:] }
        let lines = try answer.text.split(separator: "\n").map { try JSON(String($0)) }
        let head = try #require(lines.first?["snapshot"])
        feed = head["feed"]?.text ?? ""
        revision = head["revision"]?.int ?? -1
        let reported = lines.filter { $0["record"] != nil }.map { store($0) }
        #expect(lines.last?["end"]?["records"]?.int == reported.count)
        return reported
    }

    private mutating func store(_ line: JSON) -> String {
        let name = "\(line["resource"]?.text ?? "")/\(line["id"].map(\.description) ?? "")"
        let record = line["record"].flatMap { $0.isNull ? nil : $0 }
        records[name] = record
        return record == nil ? "-" + name : name
    }

    var address: String { "/v1/changes?since=\(revision)&feed=\(feed)&\(FilterFixture.query(filter))" }

    /// Reads all changes, or one page of a limited number, and returns the names as `snapshot` does.
    mutating func poll(limit: Int? = nil) async throws -> [String] {
        // A sync waits for all earlier commits.
        _ = try await session.post("/v1/sync", "{}")
        var reported: [String] = []
        while true {
            let answer = try await session.get(address + (limit.map { "&limit=\($0)" } ?? ""))
            guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
            let page = try answer.json()
            for change in page["changes"]?.array ?? [] { reported.append(store(change)) }
            revision = page["revision"]?.int ?? -1
            if limit != nil || page["more"]?.bool != true { return reported }
        }
    }
}
