import Operations
import Testing
import TestSupport

@testable import Gateway

/// Photos of orders.
///
/// Technicians read the photos of their orders, an office reads all.
enum Photos {
    static func tables(_ kind: TestEngine) -> String {
        let number = kind == .mariadb ? "AUTO_INCREMENT" : ""
        return """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer INTEGER, technician VARCHAR(20), title VARCHAR(20),
                FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE);
            CREATE TABLE photos (
                id INTEGER PRIMARY KEY \(number), order_id INTEGER, caption VARCHAR(20),
                FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE SET NULL);
            CREATE TABLE tags (
                id INTEGER PRIMARY KEY \(number), photo INTEGER NOT NULL, word VARCHAR(20),
                FOREIGN KEY (photo) REFERENCES photos (id) ON DELETE CASCADE);
            CREATE TABLE scans (id INTEGER PRIMARY KEY, order_no INTEGER, caption VARCHAR(20));
            CREATE TABLE staff (id INTEGER PRIMARY KEY, chief INTEGER, name VARCHAR(20), note VARCHAR(20));
            INSERT INTO customers VALUES (1, 'Shop'), (2, 'Mill');
            INSERT INTO orders VALUES (1, 1, 'ann', 'One'), (2, 1, 'bob', 'Two'), (3, 2, 'ann', 'Three'),
                (4, 2, NULL, 'Four'), (5, 2, 'lea', 'Five');
            INSERT INTO photos VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 3, 'd'), (5, NULL, 'e'), (6, 4, 'f'),
                (7, 5, 'g');
            INSERT INTO scans VALUES (1, 1, 's'), (2, 2, 't'), (3, 9, 'u');
            INSERT INTO staff VALUES (1, NULL, 'lea', 'x'), (2, 1, 'cid', 'y');
            """
    }

    private static let office = "  office: {read: all, write: all, create: true, delete: true, rows: all}\n"

    static let rules = [
        "customers.yaml": """
        resource: customers
        sections: {customer: {table: customers, client-keys: allow, groups: {name: name}}}
        access:
        \(office)
        """,
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            client-keys: allow
            groups: {customer: customer, technician: technician, title: title}
        access:
          technician: {read: all, write: [order.title], rows: {technician: {claim: who}}}
          lead: {read: all, write: all, rows: all}
        \(office)
        """,
        "jobs.yaml": """
        resource: jobs
        sections:
          job: {table: orders, client-keys: allow, groups: {technician: technician, title: title}}
        access:
        \(office)
        """,
        "photos.yaml": """
        resource: photos
        sections:
          photo:
            table: photos
            groups: {order: order_id, caption: caption}
          tags: {list: true, table: tags, parent: photo, groups: {word: word}}
        access:
          technician:
            read: all
            write: all
            create: true
            delete: true
            rows: {order_id.technician: {claim: who}}
          lead: {read: all, write: all, rows: {order_id.technician: {claim: who}}}
          auditor: {read: [photo.caption], rows: all}
        \(office)
        """,
        "scans.yaml": """
        resource: scans
        sections:
          scan:
            table: scans
            client-keys: allow
            groups: {order: {column: order_no, references: orders}, caption: caption}
        access:
          technician: {read: all, write: all, create: true, rows: {order_no.technician: {claim: who}}}
          free: {read: all, rows: {order_no.technician: {null: true}}}
        \(office)
        """,
        "staff.yaml": """
        resource: staff
        sections:
          person:
            table: staff
            client-keys: allow
            groups: {chief: {column: chief, references: staff}, name: name, note: note}
        access:
          lead: {read: all, write: all, rows: {chief.name: {any: [{claim: who}, {null: true}]}}}
        \(office)
        """,
    ]

    static let ann = Rounds.Client("ann", ["technician"])
    static let bob = Rounds.Client("bob", ["technician"])
    /// Reads the captions of all photos, and all fields for photos of Kim's orders.
    static let kim = Rounds.Client("kim", ["technician", "auditor"])
    /// Writes all orders, and reads the photos of Lea's orders.
    static let lea = Rounds.Client("lea", ["lead"], rights: [.read, .write, .operate])
    static let sue = Rounds.Client("sue", ["free"])
    static let boss = Rounds.Client("boss", ["office"], rights: [.read, .write, .operate])
    private static let clients = [ann, bob, kim, lea, sue, boss]

    static func database(_ kind: TestEngine) async throws -> TestDatabase {
        try await TestDatabase(kind, mariadb: tables(.mariadb), sqlite: tables(.sqlite))
    }

    static func with(
        _ kind: TestEngine, scans: Bool = false, journal: JournalPlace = .together,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await run(
            on: database(kind), journal: journal,
            configure: { if scans { ScanFixture.configure(&$0) } },
            { gateway async throws in
                if scans {
                    try await gateway.client(token: boss.secret) { client async throws in try await client.hasScanned()
                    }
                }
                try await body(gateway)
            })
    }

    static func run(
        on database: TestDatabase, journal: JournalPlace = .together,
        configure: (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await RunningGateway.with(
            database, rules: rules, tokens: clients.map(\.line).joined(separator: "\n"), journal: journal,
            configure: configure, body)
    }

    // MARK: Edits

    /// An edit of one field of a record.
    static func edit(_ resource: String, _ id: Int, _ field: String, _ old: String, _ new: String) -> String {
        let section = ["orders": "order", "jobs": "job", "photos": "photo", "scans": "scan", "staff": "person"][
            resource]
        return #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section ?? "customer")":"#
            + #"{"\#(field)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    /// An edit of a technician, from one to another.
    static func hand(_ order: Int, from old: String, to new: String, through resource: String = "orders") -> String {
        edit(resource, order, "technician", #""\#(old)""#, #""\#(new)""#)
    }

    static func creation(_ resource: String, _ id: String, _ fields: String) -> String {
        let section = ["orders": "order", "photos": "photo", "scans": "scan"][resource] ?? "customer"
        return #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"old":null,"new":\#(fields)}}}"#
    }

    static func deletion(_ resource: String, _ id: Int, _ fields: String) -> String {
        let section = ["orders": "order", "photos": "photo", "scans": "scan"][resource] ?? "customer"
        return #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"old":\#(fields),"new":null}}}"#
    }
}

extension RunningGateway {
    func push(_ edits: String..., as client: Rounds.Client) async throws -> HTTPClient.Answer {
        try await post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#, as: client)
    }

    /// Pushes as the office, and waits until the feed contains the push.
    func write(_ edits: String...) async throws {
        let answer = try await post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#, as: Photos.boss)
        try #require(answer.status == 200, "\(answer.text)")
        _ = try await post("/v1/sync", "{}", as: Photos.boss)
    }

    /// Undoes the last entry of a record.
    func undo(_ resource: String, _ id: Int) async throws {
        let entries = try await get("/v1/journal?resource=\(resource)&id=\(id)", as: Photos.boss).json()
        let number = entries["entries"]?.array.compactMap { $0["number"]?.int }.max() ?? 0
        let answer = try await post("/v1/journal/\(number)/undo", "{}", as: Photos.boss)
        try #require(answer.status == 200, "\(answer.text)")
        _ = try await post("/v1/sync", "{}", as: Photos.boss)
    }
}
