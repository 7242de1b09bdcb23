import Operations
import Testing
import TestSupport

@testable import Gateway

/// Read-only fields from the rows that columns refer to (`lookups`).
@Suite(.timeLimit(.minutes(5))) struct LookupTests {
    private static func tables(_ number: String) -> String {
        """
        CREATE TABLE areas (code VARCHAR(10) PRIMARY KEY, title VARCHAR(20) NOT NULL);
        CREATE TABLE customers (id INTEGER PRIMARY KEY \(number), name VARCHAR(20) NOT NULL, phone VARCHAR(20),
          chief INTEGER, FOREIGN KEY (chief) REFERENCES customers (id) ON DELETE SET NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY \(number), customer INTEGER, area VARCHAR(10), note VARCHAR(20),
          FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE SET NULL);
        CREATE TABLE items (id INTEGER PRIMARY KEY \(number), home INTEGER NOT NULL, helper INTEGER,
          FOREIGN KEY (helper) REFERENCES customers (id) ON DELETE SET NULL);
        INSERT INTO areas VALUES ('N', 'North'), ('S', 'South');
        INSERT INTO customers VALUES (1, 'Ann', '1', NULL), (2, 'Bob', '2', 1), (3, 'Cid', '3', NULL);
        INSERT INTO orders VALUES (1, 1, 'N', 'a'), (2, 2, 'n', 'b'), (3, NULL, 'X', 'c'), (4, 3, NULL, 'd');
        INSERT INTO items VALUES (1, 3, 1), (2, 3, 3);
        """
    }

    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer:
            table: customers
            groups: {name: name, phone: phone, chief: chief}
            lookups: {chiefName: {along: chief, column: name}}
        """,
        "areas.yaml": "resource: areas\nsections: {area: {table: areas, groups: {title: title}}}\n",
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            groups: {note: note, customer: customer, area: {column: area, references: areas}}
            lookups:
              customerName: {along: customer, column: name}
              areaTitle: {along: area, column: title}
          lines:
            list: true
            table: items
            parent: home
            groups: {helper: helper}
            lookups: {helperName: {along: helper, column: name}}
        access:
          office: {read: all, write: all, create: true, delete: true, rows: all}
          guest: {read: [order.note], write: [order.note], rows: all}
        """,
    ]

    /// MariaDB caches subqueries by the collation.
    @Test("Another spelling of a reference has no row, however many records are read", .tags(.mariadb), .needsMariaDB)
    func spellings() async throws {
        let sql = """
            CREATE TABLE depots (code VARCHAR(10) PRIMARY KEY, region VARCHAR(10)) COLLATE utf8mb4_general_ci;
            CREATE TABLE crates (id INT PRIMARY KEY, depot VARCHAR(10)) COLLATE utf8mb4_general_ci;
            INSERT INTO depots VALUES ('d1', 'north');
            INSERT INTO crates VALUES (1, 'D1'), (2, 'd1'), (3, 'D1'), (4, 'd1');
            """
        let rules = [
            "depots.yaml": "resource: depots\nsections: {depot: {table: depots, groups: {region: region}}}\n",
            "crates.yaml": """
            resource: crates
            sections:
              crate:
                table: crates
                groups: {depot: {column: depot, references: depots}}
                lookups: {region: {along: depot, column: region}}
            """,
        ]
        let database = try await TestDatabase(.mariadb, mariadb: sql, sqlite: "")
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                let page = try await client.get("/v1/records/crates").json()["records"]?.array ?? []
                #expect(page.map { $0["crate"]?["region"]?.text } == [nil, "north", nil, "north"], "\(page)")
                for (id, record) in zip(1...4, page) {
                    #expect(try await client.get("/v1/records/crates/\(id)").json() == record)
                }
            }
        }
    }

    private static let office = Rounds.Client("office", ["office"], rights: [.read, .write, .operate])
    private static let guest = Rounds.Client("guest", ["guest"])

    private static func with(
        _ kind: TestEngine, scans: Bool = false, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: tables("AUTO_INCREMENT"), sqlite: tables(""))
        try await RunningGateway.with(
            database, rules: rules, tokens: [office, guest].map(\.line).joined(separator: "\n"), journal: .together,
            configure: { if scans { ScanFixture.configure(&$0) } }, body)
    }

    private static func order(_ gateway: RunningGateway, _ id: Int) async throws -> String {
        try await gateway.get("/v1/records/orders/\(id)", as: office).json()["order"]?.description ?? ""
    }

    private static func merge(
        _ gateway: RunningGateway, _ resource: String, _ id: String, _ changeset: String
    ) async throws -> HTTPClient.Answer {
        try await gateway.post("/v1/merge/\(resource)", #"{"id":\#(id),"changeset":\#(changeset)}"#, as: office)
    }

    private static func revision(_ gateway: RunningGateway) async throws -> (feed: String, revision: Int) {
        _ = try await gateway.post("/v1/sync", "{}", as: office)
        let answer = try await gateway.get("/v1/changes", as: office).json()
        return (answer["feed"]?.text ?? "", answer["revision"]?.int ?? -1)
    }

    private static func changes(
        _ gateway: RunningGateway, after position: (feed: String, revision: Int)
    ) async throws -> JSON {
        _ = try await gateway.post("/v1/sync", "{}", as: office)
        return try await gateway.get(
            "/v1/changes?since=\(position.revision)&feed=\(position.feed)", as: office
        ).json()
    }

    @Test("A record shows columns of referred rows, and null without such a row", arguments: TestEngine.allCases)
    func reading(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let first = try await Self.order(gateway, 1)
            #expect(first == #"{"area":"N","areaTitle":"North","customer":1,"customerName":"Ann","note":"a"}"#)
            // Texts are compared by their characters, whatever the collation.
            let second = try await Self.order(gateway, 2)
            #expect(second == #"{"area":"n","areaTitle":null,"customer":2,"customerName":"Bob","note":"b"}"#)
            let third = try await Self.order(gateway, 3)
            #expect(third == #"{"area":"X","areaTitle":null,"customer":null,"customerName":null,"note":"c"}"#)
            let page = try await gateway.get("/v1/records/orders", as: Self.office).text
            #expect(page.contains(#""customerName":"Cid""#) && page.contains(#""helperName":"Ann""#), "\(page)")
            let customer = try await gateway.get("/v1/records/customers/2", as: Self.office).json()["customer"]
            #expect(customer?["chiefName"]?.text == "Ann")
            let guest = try await gateway.get("/v1/records/orders/1", as: Self.guest).json()["order"]
            #expect(guest?.description == #"{"note":"a"}"#)
            let rules = try await gateway.get("/v1/rules", as: Self.office).text
            #expect(rules.contains(#"{"field":"customerName","type":"text""#), "\(rules)")
            #expect(try await gateway.get("/v1/rules", as: Self.guest).text.contains("customerName") == false)
            let snapshot = try await gateway.get("/v1/snapshot", as: Self.office).text
            #expect(snapshot.contains(#""customerName":"Ann""#), "\(snapshot)")
        }
    }

    @Test("A lookup is read-only, and follows the edit of its reference", arguments: TestEngine.allCases)
    func writing(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let refused = try await Self.merge(
                gateway, "orders", "1", #"{"order":{"customerName":{"old":"Ann","new":"Eve"}}}"#)
            #expect(refused.status == 400 && refused.text.contains("read-only"), "\(refused.text)")
            let moved = try await Self.merge(gateway, "orders", "1", #"{"order":{"customer":{"old":1,"new":2}}}"#)
            #expect(moved.text.contains(#""customerName":"Bob""#), "\(moved.text)")
            let made = try await Self.merge(
                gateway, "orders", "-1", #"{"order":{"old":null,"new":{"note":"new","customer":3,"area":"S"}}}"#)
            #expect(
                made.status < 300 && made.text.contains(#""customerName":"Cid""#)
                    && made.text.contains(#""areaTitle":"South""#), "\(made.text)")
            let deleted = try await Self.merge(
                gateway, "orders", "2",
                #"{"order":{"old":{"note":"b","customer":2,"area":"n"},"new":null}}"#)
            #expect(deleted.text.contains(#""outcome":"deleted""#), "\(deleted.text)")
            let entry = try await gateway.get("/v1/journal", as: Self.office).json()["entries"]?.array.first
            let undone = try await gateway.post("/v1/journal/\(entry?["entry"]?.int ?? 3)/undo", "{}", as: Self.office)
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await Self.order(gateway, 2).contains(#""customerName":"Bob""#))
        }
    }

    @Test("A change of a referred row is a change of the records that show it", arguments: TestEngine.allCases)
    func feed(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            func changed(_ resource: String, _ id: String, _ changeset: String) async throws -> Set<String> {
                let before = try await Self.revision(gateway)
                let answer = try await Self.merge(gateway, resource, id, changeset)
                #expect(answer.status == 200, "\(answer.text)")
                return Set(try await Self.changes(gateway, after: before).names)
            }
            let renamed = try await changed("customers", "1", #"{"customer":{"name":{"old":"Ann","new":"Amy"}}}"#)
            #expect(renamed == ["customers/1", "customers/2", "orders/1", "orders/3"])
            #expect(try await Self.order(gateway, 1).contains(#""customerName":"Amy""#))
            let unseen = try await changed("customers", "1", #"{"customer":{"phone":{"old":"1","new":"9"}}}"#)
            // The MariaDB account cannot see triggers, which may write more columns.
            #expect(kind == .mariadb ? unseen.contains("customers/1") : unseen == ["customers/1"])
            let title = try await changed("areas", #""N""#, #"{"area":{"title":{"old":"North","new":"Up"}}}"#)
            #expect(title == ["areas/\"N\"", "orders/1"] || title == ["areas/N", "orders/1"], "\(title)")
            let made = try await changed("areas", #""X""#, #"{"area":{"old":null,"new":{"title":"Extra"}}}"#)
            #expect(made.contains("orders/3") && made.count == 2, "\(made)")
            #expect(try await Self.order(gateway, 3).contains(#""areaTitle":"Extra""#))
            let gone = try await changed(
                "customers", "3", #"{"customer":{"old":{"name":"Cid","phone":"3","chief":null},"new":null}}"#)
            #expect(gone.isSuperset(of: ["customers/3", "orders/4", "orders/3"]), "\(gone)")
            #expect(try await Self.order(gateway, 4).contains(#""customerName":null"#))
        }
    }

    @Test("The scan reports records whose referred row another program changed", arguments: TestEngine.allCases)
    func foreign(_ kind: TestEngine) async throws {
        try await Self.with(kind, scans: true) { gateway in
            try await gateway.client(token: Self.office.secret) { client in
                try await client.hasScanned()
                let before = try await client.position()
                try await gateway.database.run("UPDATE customers SET name = 'Zoe' WHERE id = 1;")
                let wanted: Set = ["customers/1", "customers/2", "orders/1", "orders/3"]
                let found = try await client.changes(after: before, until: wanted).changes
                #expect(Set(found.map(\.name)) == wanted)
            }
            #expect(try await Self.order(gateway, 1).contains(#""customerName":"Zoe""#))
        }
    }

    private static let sharedTables = """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, note VARCHAR(20), owner VARCHAR(20));
        INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob');
        INSERT INTO orders VALUES (1, 1, 'a', 'ann'), (2, 2, 'b', 'ann');
        """

    private static let sharedRules = [
        "customers.yaml": "resource: customers\nsections: {customer: {table: customers, groups: {name: name}}}\n",
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            client-keys: allow
            groups: {customer: {column: customer, references: customers}, owner: owner}
            lookups: {customerName: {along: customer, column: name}}
        access:
          office: {read: all, write: all, create: true, delete: true, rows: all}
          guest: {read: all, rows: {owner: {claim: who}}}
        """,
        "routes.yaml": """
        resource: routes
        sections: {route: {table: orders, client-keys: allow, groups: {customer: customer, note: note}}}
        """,
    ]

    /// A push that changes the row at the same time would not find the record that refers to it now.
    @Test(
        "A push that makes a record of another resource refer to a row waits for the row", .tags(.mariadb),
        .needsMariaDB,
        arguments: [
            #"{"id":2,"changeset":{"route":{"customer":{"old":2,"new":1}}}}"#,
            #"{"id":3,"changeset":{"route":{"old":null,"new":{"customer":1}}}}"#,
        ])
    func sharedReference(_ body: String) async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.sharedTables, sqlite: "")
        try await RunningGateway.with(
            database, rules: Self.sharedRules, tokens: Self.office.line, journal: .together,
            configure: { $0.requestSeconds = 2 }
        ) { gateway async throws in
            let other = try database.session()
            try await other.run("BEGIN; UPDATE customers SET name = 'Amy' WHERE id = 1;")
            let note = try await gateway.post(
                "/v1/merge/routes", #"{"id":1,"changeset":{"route":{"note":{"old":"a","new":"c"}}}}"#, as: Self.office)
            #expect(note.status == 200, "\(note.text)")
            let waited = try await gateway.post("/v1/merge/routes", body, as: Self.office)
            #expect(waited.status == 503, "\(waited.text)")
            try await other.run("COMMIT;")
            let merged = try await gateway.post("/v1/merge/routes", body, as: Self.office)
            #expect(merged.status == 200, "\(merged.text)")
            let order = try await gateway.get("/v1/records/orders/\(body.contains("3") ? 3 : 2)", as: Self.office).text
            #expect(order.contains("Amy"), "\(order)")
        }
    }

    @Test("A change of a row with many references reports all their records", arguments: TestEngine.allCases)
    func manyReferences(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sharedTables, sqlite: Self.sharedTables)
        let values = (10..<310).map { "(\($0), 1, '\($0.isMultiple(of: 3) ? "ann" : "bob")')" }
        try await database.run("INSERT INTO orders (id, customer, owner) VALUES \(values.joined(separator: ","));")
        let ann = Rounds.Client("ann", ["guest"])
        try await RunningGateway.with(
            database, rules: Self.sharedRules, tokens: [Self.office, ann].map(\.line).joined(separator: "\n"),
            journal: .together
        ) { gateway async throws in
            func names(_ client: Rounds.Client, _ start: JSON) async throws -> [JSON] {
                _ = try await gateway.post("/v1/sync", "{}", as: client)
                let address =
                    "/v1/changes?resources=orders&since=\(start["revision"]?.int ?? 0)&feed=\(start["feed"]?.text ?? "")"
                let changes = try await gateway.get(address, as: client).json()["changes"]?.array ?? []
                return changes.compactMap { $0["record"]?["order"]?["customerName"] }
            }
            _ = try await gateway.post("/v1/sync", "{}", as: ann)
            let start = try await gateway.get("/v1/changes", as: ann).json()
            let all = try await gateway.get("/v1/changes", as: Self.office).json()
            let answer = try await Self.merge(
                gateway, "customers", "1", #"{"customer":{"name":{"old":"Ann","new":"Amy"}}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let seen = try await names(ann, start)
            #expect(seen.count == 101 && seen.allSatisfy { $0.text == "Amy" }, "\(seen.count)")
            #expect(try await names(Self.office, all).count == 301)
            // A deletion is reported to the clients that could read the record.
            let gone = try await Self.merge(
                gateway, "orders", "12", #"{"order":{"old":{"customer":1,"owner":"ann"},"new":null}}"#)
            #expect(gone.status == 200, "\(gone.text)")
            _ = try await gateway.post("/v1/sync", "{}", as: ann)
            let page = try await gateway.get(
                "/v1/changes?resources=orders&limit=500&since=\(start["revision"]?.int ?? 0)&feed=\(start["feed"]?.text ?? "")",
                as: ann
            ).json()
            let nulls = (page["changes"]?.array ?? []).filter { $0["record"]?.isNull == true }
            #expect(nulls.compactMap { $0["id"]?.int } == [12])
        }
    }

    @Test("A deletion of a row with a private lookup can be undone", arguments: TestEngine.allCases)
    func privateLookup(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sharedTables, sqlite: Self.sharedTables)
        let rules = [
            "customers.yaml": """
            resource: customers
            sections: {customer: {table: customers, groups: {name: {column: name, private: true}}}}
            """,
            "orders.yaml": """
            resource: orders
            sections:
              order:
                table: orders
                groups: {customer: {column: customer, references: customers}, note: note}
                lookups: {customerName: {along: customer, column: name}}
            """,
        ]
        try await RunningGateway.with(database, rules: rules, tokens: Self.office.line, journal: .together) { gateway in
            let gone = try await Self.merge(
                gateway, "orders", "1", #"{"order":{"old":{"customer":1,"note":"a"},"new":null}}"#)
            #expect(gone.status == 200, "\(gone.text)")
            let entries = try await gateway.get("/v1/journal", as: Self.office)
            #expect(!entries.text.contains("Ann"), "\(entries.text)")
            let number = try entries.json()["entries"]?.array.last?["number"]?.int ?? 0
            let undone = try await gateway.post("/v1/journal/\(number)/undo", "{}", as: Self.office)
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await database.run("SELECT customer, note FROM orders WHERE id = 1;") == "1\ta\n")
        }
    }
}
