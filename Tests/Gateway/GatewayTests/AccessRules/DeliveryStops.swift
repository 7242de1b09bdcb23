import Operations
import TestSupport

@testable import Gateway

/// Stops of several drivers, with tables that refer to them in each way.
///
/// A cascade or reference could reveal hidden rows.
enum DeliveryStops {
    static func sql(_ kind: TestEngine) -> String {
        let stops = kind == .sqlite ? "STOPS(ID)" : "stops (id)"
        return """
            CREATE TABLE stops (id INTEGER PRIMARY KEY, title VARCHAR(40), area INTEGER, st VARCHAR(10), owner VARCHAR(20),
              code VARCHAR(10) UNIQUE, hidden INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE notes (id INTEGER PRIMARY KEY, stop_id INTEGER NOT NULL, body VARCHAR(40), price VARCHAR(40),
              FOREIGN KEY (stop_id) REFERENCES stops (id));
            CREATE TABLE visits (id INTEGER PRIMARY KEY, stop_id INTEGER, code VARCHAR(10), txt VARCHAR(10),
              uq VARCHAR(10) UNIQUE, FOREIGN KEY (stop_id) REFERENCES \(stops),
              FOREIGN KEY (code) REFERENCES stops (code));
            CREATE TABLE details (stop_id INTEGER PRIMARY KEY, txt VARCHAR(20),
              FOREIGN KEY (stop_id) REFERENCES stops (id));
            CREATE TABLE gauges (id INTEGER PRIMARY KEY, level DOUBLE, txt VARCHAR(20));
            CREATE TABLE audit (mail VARCHAR(40) PRIMARY KEY, stop_id INTEGER,
              FOREIGN KEY (stop_id) REFERENCES stops (id) ON DELETE CASCADE);
            INSERT INTO stops VALUES (1, 'mine', 1, 'new', 'drv', 'A1', 0), (2, 'HIDDEN-T', 2, 'new', 'bob', 'B2', 0),
              (3, 'third', 1, 'new', 'drv', 'A3', 0), (4, 'bin', 9, 'new', 'drv', 'A4', 0);
            INSERT INTO notes VALUES (1, 1, 'b', 'p'), (2, 2, 'HIDDEN-BODY', 'HIDDEN-PRICE');
            INSERT INTO visits VALUES (1, 1, NULL, 'v', 'q1'), (2, 1, NULL, 'v', 'q2');
            INSERT INTO gauges VALUES (1, 1.5, 'g'), (2, 2.5, 'HIDDEN-G');
            INSERT INTO audit VALUES ('HIDDEN@mail', 4);
            """
    }

    static let rules = [
        "stops.yaml": """
        resource: stops
        sections:
          stop:
            table: stops
            client-keys: allow
            on-missing: restore
            where: hidden = 0
            frozen-when: "st = 'done'"
            groups: {title: title, area: area, st: {column: st, transitions: {new: [done], done: []}}, owner: owner,
              code: code, hidden: hidden}
          notes: {list: true, table: notes, client-keys: allow, parent: stop_id, on-missing: restore,
            groups: {body: body, price: price}}
        access:
          driver:
            read: [stop.title, stop.area, stop.st, stop.hidden, notes]
            write: [stop.title, stop.area, stop.hidden, notes]
            rows: {area: {value: 1}}
            set: {owner: {claim: who}}
          bin: {read: [stop.title, stop.area], delete: true, rows: {area: {value: 9}}}
          maker:
            read: [stop.title, stop.area, stop.owner]
            write: [stop.title, stop.area]
            create: true
            rows: {area: {value: 1}}
            set: {owner: {claim: who}}
          office: {read: all, write: all, create: true, delete: true}
        """,
        "allnotes.yaml": """
        resource: allnotes
        sections:
          note: {table: notes, client-keys: allow, groups: {stop: stop_id, body: body, price: price}}
        access:
          office: {read: all, write: all, create: true, delete: true}
        """,
        "visits.yaml": """
        resource: visits
        sections:
          visit: {table: visits, client-keys: allow, groups: {stop: stop_id, code: code, txt: txt, uq: uq}}
        access:
          driver: {read: all, write: all, create: true}
          office: {read: all, write: all, create: true, delete: true}
        """,
        "details.yaml": """
        resource: details
        sections:
          detail: {table: details, client-keys: allow, groups: {txt: txt}}
        access:
          driver: {read: all, write: all, create: true}
          office: {read: all, write: all, create: true, delete: true}
        """,
        "gauges.yaml": """
        resource: gauges
        sections:
          gauge: {table: gauges, client-keys: allow, groups: {txt: txt}}
        access:
          driver: {read: all, rows: {level: {value: 1.5}}}
          office: {read: all, write: all, create: true, delete: true}
        """,
    ]

    static let driver = Rounds.Client("drv", ["driver"])
    static let both = Rounds.Client("both", ["driver", "bin"])
    static let maker = Rounds.Client("mak", ["maker"])
    static let chief = Rounds.Client("op", ["driver"], rights: [.read, .write, .operate])
    static let office = Rounds.Client("off", ["office"], rights: [.read, .write, .operate])

    static func with(
        _ kind: TestEngine, rules: [String: String] = rules,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql(.mariadb), sqlite: sql(.sqlite))
        let tokens = [driver, both, maker, chief, office].map(\.line).joined(separator: "\n")
        try await RunningGateway.with(
            database, rules: rules, tokens: tokens, journal: .together, configure: ScanFixture.configure, body)
    }
}
