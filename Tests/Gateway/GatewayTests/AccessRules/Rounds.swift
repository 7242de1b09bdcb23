import Operations
import TestSupport

@testable import Gateway

/// Stops of delivery rounds.
///
/// Drivers read the records of their areas, an office reads all.
enum Rounds {
    static let mariadb = """
        CREATE TABLE depots (id INT AUTO_INCREMENT PRIMARY KEY, area INT NOT NULL, name VARCHAR(60));
        CREATE TABLE stops (
            id INT AUTO_INCREMENT PRIMARY KEY, area INT, owner VARCHAR(40), title VARCHAR(60), price INT NOT NULL DEFAULT 0,
            secret VARCHAR(60), status VARCHAR(20) NOT NULL DEFAULT 'new', due DATE, code VARCHAR(30) UNIQUE,
            depot INT, CONSTRAINT stop_depot FOREIGN KEY (depot) REFERENCES depots (id), INDEX (area));
        CREATE TABLE parcels (
            id INT AUTO_INCREMENT PRIMARY KEY, stop_id INT NOT NULL, label VARCHAR(60), worth VARCHAR(60),
            FOREIGN KEY (stop_id) REFERENCES stops (id) ON DELETE CASCADE);
        CREATE TABLE marks (stop_id INT PRIMARY KEY, remark VARCHAR(60), FOREIGN KEY (stop_id) REFERENCES stops (id));
        """
    static let sqlite = """
        CREATE TABLE depots (id INTEGER PRIMARY KEY, area INT NOT NULL, name VARCHAR(60));
        CREATE TABLE stops (
            id INTEGER PRIMARY KEY, area INT, owner VARCHAR(40), title VARCHAR(60), price INT NOT NULL DEFAULT 0,
            secret VARCHAR(60), status VARCHAR(20) NOT NULL DEFAULT 'new', due DATE, code VARCHAR(30) UNIQUE,
            depot INT REFERENCES depots (id));
        CREATE INDEX stops_area ON stops (area);
        CREATE TABLE parcels (
            id INTEGER PRIMARY KEY, stop_id INT NOT NULL REFERENCES stops (id) ON DELETE CASCADE, label VARCHAR(60),
            worth VARCHAR(60));
        CREATE TABLE marks (stop_id INTEGER PRIMARY KEY REFERENCES stops (id), remark VARCHAR(60));
        """
    static let stops = """
        resource: stops
        sections:
          stop:
            table: stops
            client-keys: allow
            groups:
              title: title
              area: area
              owner: owner
              price: {column: price, merge: add}
              secret: secret
              status: {column: status, transitions: {new: [open], open: [closed, new], closed: []}}
              due: due
              code: code
              depot: {column: depot, references: depots}
          parcels:
            list: true
            table: parcels
            client-keys: allow
            parent: {stop_id: id}
            order: [id]
            groups: {label: label, worth: worth}
          mark:
            table: marks
            parent: {stop_id: id}
            groups: {remark: remark}
        access:
          driver:
            read: [stop.title, stop.area, stop.price, stop.status, stop.code, stop.depot, parcels.label]
            write: [stop.title, stop.area, stop.price, stop.status, stop.code, stop.depot]
            rows: {area: {claim: areas}}
          keeper:
            read: [stop, parcels, mark]
            write: all
            create: true
            delete: true
            rows: {owner: {any: [{claim: who}, {value: nobody}]}}
            set: {owner: {claim: who}}
          late:
            read: [stop]
            rows: {due: {before: {claim: today}}, owner: {not: {claim: who}}}
          orphans:
            read: [stop]
            rows: {owner: {null: true}}
          office: {read: all, write: all, create: true, delete: true}
        """
    static let depots = """
        resource: depots
        sections:
          depot:
            table: depots
            client-keys: allow
            groups: {area: area, name: name}
        access:
          driver:
            read: all
            rows: {area: {claim: areas}}
          office: {read: all, write: all, create: true, delete: true}
        """
    static let rules = ["stops.yaml": stops, "depots.yaml": depots]

    /// A client of the tests.
    struct Client: Sendable {
        let name: String
        let roles: [String]
        var claims: String?
        var rights: [AccessRight] = [.read, .write]
        private let token: AccessToken

        init(_ name: String, _ roles: [String], claims: String? = nil, rights: Set<AccessRight> = [.read, .write]) {
            self.name = name
            self.roles = roles
            self.claims = claims
            self.rights = Array(rights)
            token = AccessToken.make()
        }

        var secret: String { token.secret }
        var line: String { token.line(name: name, rights: Set(rights), roles: roles, claims: claims) }
    }

    static let ann = Client("ann", ["driver"], claims: #"{"areas": [1, 2]}"#)
    static let bob = Client("bob", ["driver"], claims: #"{"areas": 3}"#)
    static let kim = Client("kim", ["keeper"])
    static let lee = Client("lee", ["driver", "keeper"], claims: #"{"areas": [1]}"#)
    static let eve = Client("eve", ["late"], claims: #"{"today": "2026-06-01"}"#)
    static let sue = Client("sue", ["orphans"])
    static let max = Client("max", ["stranger"])
    static let boss = Client("boss", ["office"], rights: [.read, .write, .operate])
    static let clients = [ann, bob, kim, lee, eve, sue, max, boss]
    static let tokens = clients.map(\.line).joined(separator: "\n")

    static func database(_ kind: TestEngine, filling: String = rows) async throws -> TestDatabase {
        let database = try await TestDatabase(kind, mariadb: mariadb, sqlite: sqlite)
        try await database.run(filling)
        return database
    }

    static let rows = """
        INSERT INTO depots (id, area, name) VALUES (1, 1, 'North'), (3, 3, 'South');
        INSERT INTO stops (id, area, owner, title, price, secret, status, due, code, depot) VALUES
            (1, 1, 'kim', 'One', 10, 'S1', 'new', '2026-01-01', 'C1', 1),
            (2, 2, 'lee', 'Two', 20, 'S2', 'open', '2026-05-01', 'C2', NULL),
            (3, 3, 'nobody', 'Three', 30, 'S3', 'closed', '2026-09-01', 'C3', 3),
            (4, NULL, NULL, 'Four', 40, 'S4', 'new', NULL, 'C4', NULL),
            (5, 3, 'KIM', 'Five', 50, 'S5', 'new', '2026-02-01', 'C5', NULL);
        INSERT INTO parcels (id, stop_id, label, worth) VALUES (1, 1, 'A', 'W1'), (2, 1, 'B', 'W2'), (3, 3, 'C', 'W3');
        INSERT INTO marks (stop_id, remark) VALUES (1, 'R1'), (3, 'R3');
        """

    /// Runs a body against a gateway on a database that is filled.
    static func with<Answer: Sendable>(
        _ kind: TestEngine, journal: JournalPlace? = .together,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Answer
    ) async throws -> Answer {
        let database = try await database(kind)
        return try await RunningGateway.with(database, rules: rules, tokens: tokens, journal: journal, body)
    }
}

extension RunningGateway {
    /// One id for all requests, so that two answers can be compared.
    private static let headers = ["X-Request-ID": "rounds"]

    func get(_ path: String, as client: Rounds.Client) async throws -> HTTPClient.Answer {
        try await self.client(token: client.secret) { try await $0.get(path, Self.headers) }
    }

    func post(_ path: String, _ body: String, as client: Rounds.Client) async throws -> HTTPClient.Answer {
        try await self.client(token: client.secret) { try await $0.post(path, body, Self.headers) }
    }

    func merge(_ id: String, _ changeset: String, as client: Rounds.Client) async throws -> HTTPClient.Answer {
        try await post("/v1/merge/stops", #"{"id": \#(id), "changeset": \#(changeset)}"#, as: client)
    }
}
