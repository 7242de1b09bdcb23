import Operations
import Testing
import TestSupport

/// Columns that every write through a section sets (`stamp`).
@Suite(.timeLimit(.minutes(5))) struct StampTests {
    private static func tables(_ key: String) -> String {
        """
        CREATE TABLE customers (id \(key), name VARCHAR(20), email VARCHAR(20), deleted INTEGER NOT NULL DEFAULT 0,
          at_time DATETIME(3), on_day DATE, at_second BIGINT, by_who VARCHAR(20), area VARCHAR(10),
          program VARCHAR(10) NOT NULL DEFAULT 'old');
        CREATE TABLE order_lines (id \(key), customer INTEGER, label VARCHAR(20), gone INTEGER NOT NULL DEFAULT 0,
          by_who VARCHAR(20) NOT NULL DEFAULT 'old', strict_area VARCHAR(10) NOT NULL DEFAULT 'old');
        INSERT INTO customers (id, name, email) VALUES (1, 'Ann', 'a@x'), (2, 'Bob', 'b@x'), (3, 'Cid', 'c@x');
        INSERT INTO order_lines (id, customer, label) VALUES (1, 1, 'first'), (2, 1, 'second');
        """
    }

    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer:
            table: customers
            where: deleted = 0
            delete: {set: {deleted: 1}}
            groups: {name: name, email: {column: email, on-conflict: server-wins}}
            read-only: {changed: at_time, by: by_who}
            stamp: {at_time: now, on_day: now, at_second: now, by_who: {claim: who}, area: {claim: area}, program: {value: app}}
          lines:
            list: true
            table: order_lines
            parent: customer
            where: gone = 0
            delete: {set: {gone: 1}}
            groups: {label: label}
            stamp: {by_who: {claim: who}, strict_area: {claim: area}}
        """,
        "others.yaml": """
        resource: others
        sections: {other: {table: customers, groups: {name: name}, stamp: {program: {value: other}}}}
        """,
        "plain.yaml": """
        resource: plain
        sections: {row: {table: customers, on-missing: restore, groups: {name: name, by: by_who}, stamp: {area: {value: p}}}}
        """,
    ]

    private static let ann = Rounds.Client("ann", [], claims: #"{"area": "north"}"#)
    private static let bob = Rounds.Client("bob", [])
    private static let op = Rounds.Client("op", [], claims: #"{"area": "hq"}"#, rights: [.read, .write, .operate])
    private static let odd = Rounds.Client("odd", [], claims: #"{"area": ["a", "b"]}"#)

    private static func with(
        _ kind: TestEngine, journal: JournalPlace = .together,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: tables("INTEGER PRIMARY KEY AUTO_INCREMENT"), sqlite: tables("INTEGER PRIMARY KEY"))
        try await RunningGateway.with(
            database, rules: rules, tokens: [ann, bob, op, odd].map(\.line).joined(separator: "\n"), journal: journal,
            body)
    }

    private static func merge(
        _ gateway: RunningGateway, _ id: String, _ changeset: String, in resource: String = "customers",
        as client: Rounds.Client = ann
    ) async throws -> HTTPClient.Answer {
        try await gateway.post("/v1/merge/\(resource)", #"{"id":\#(id),"changeset":\#(changeset)}"#, as: client)
    }

    private static func who(_ gateway: RunningGateway, _ id: Int) async throws -> String {
        try await gateway.database.run(
            "SELECT coalesce(by_who, '-'), coalesce(area, '-'), program FROM customers WHERE id = \(id);")
    }

    @Test("An update stamps its row, and only its row", arguments: TestEngine.allCases)
    func updating(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let answer = try await Self.merge(gateway, "1", #"{"customer":{"name":{"old":"Ann","new":"Anna"}}}"#)
            let body = try answer.json()
            #expect(answer.status == 200 && body["outcomes"]?.array.count == 1, "\(answer.text)")
            #expect(body["record"]?["customer"]?["by"]?.text == "ann", "\(answer.text)")
            #expect(try await Self.who(gateway, 1) == "ann\tnorth\tapp\n")
            let now = kind == .mariadb ? "UTC_TIMESTAMP(3)" : "strftime('%Y-%m-%d %H:%M:%f', 'now')"
            let age =
                kind == .mariadb
                ? "ABS(TIMESTAMPDIFF(SECOND, at_time, \(now))) < 60 AND ABS(UNIX_TIMESTAMP() - at_second) < 60"
                : "abs(strftime('%s', at_time) - strftime('%s', 'now')) < 60 AND abs(strftime('%s', 'now') - at_second) < 60"
            let isNow = try await gateway.database.run(
                "SELECT \(age) AND on_day = \(kind == .mariadb ? "DATE(at_time)" : "date(at_time)") FROM customers WHERE id = 1;"
            )
            #expect(isNow == "1\n")
            #expect(try await Self.who(gateway, 2) == "-\t-\told\n")
            let sent = try await Self.merge(gateway, "1", #"{"customer":{"by":{"old":"ann","new":"x"}}}"#)
            #expect(sent.status == 400, "\(sent.text)")
        }
    }

    @Test("An edit that writes nothing stamps nothing", arguments: TestEngine.allCases)
    func writingNothing(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            for edit in [
                #"{"customer":{"name":{"old":"Ann","new":"Ann"}}}"#, #"{"customer":{"name":{"old":"x","new":"Ann"}}}"#,
                #"{"customer":{"email":{"old":"x","new":"y"}}}"#, "{}",
                #"{"lines":[{"id":1,"label":{"old":"first","new":"1"}}]}"#,
            ] {
                let answer = try await Self.merge(gateway, "1", edit)
                #expect(answer.status == 200, "\(answer.text)")
            }
            #expect(try await Self.who(gateway, 1) == "-\t-\told\n")
            let preview = try await gateway.post(
                "/v1/merge/customers?preview=true",
                #"{"id":1,"changeset":{"customer":{"name":{"old":"Ann","new":"x"}}}}"#, as: Self.ann)
            #expect(preview.status == 200 && preview.text.contains(#""by":"ann""#), "\(preview.text)")
            #expect(try await Self.who(gateway, 1) == "-\t-\told\n")
            let lines = try await gateway.database.run("SELECT by_who, strict_area FROM order_lines ORDER BY id;")
            #expect(lines == "ann\tnorth\nold\told\n")
        }
    }

    @Test(
        "Creations, soft deletions, undo and resend have new stamps", arguments: TestEngine.allCases)
    func otherWrites(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let made = try await Self.merge(
                gateway, "\"tmp:a\"",
                #"{"customer":{"old":null,"new":{"name":"Dot"}},"lines":[{"id":"tmp:l","old":null,"new":{"label":"n"}}]}"#
            )
            #expect(made.status == 200, "\(made.text)")
            #expect(try await Self.who(gateway, 4) == "ann\tnorth\tapp\n")
            #expect(try await gateway.database.run("SELECT by_who FROM order_lines WHERE id = 3;") == "ann\n")
            let gone = try await Self.merge(gateway, "2", #"{"customer":{"old":{},"new":null}}"#, as: Self.bob)
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await Self.who(gateway, 2) == "bob\t-\tapp\n")
            let undone = try await gateway.post("/v1/journal/2/undo", "{}", as: Self.op)
            #expect(undone.status == 200, "\(undone.text)")
            #expect(try await Self.who(gateway, 2) == "op\thq\tapp\n")
            #expect(try await gateway.database.run("SELECT deleted FROM customers WHERE id = 2;") == "0\n")
            let line = try await Self.merge(
                gateway, "1", #"{"lines":[{"id":1,"old":{"label":"first"},"new":null}]}"#)
            #expect(line.status == 200, "\(line.text)")
            let row = try await gateway.database.run("SELECT gone, by_who, strict_area FROM order_lines WHERE id = 1;")
            #expect(row == "1\tann\tnorth\n")
        }
    }

    @Test("A missing claim is NULL, or refuses the edit if the column cannot be NULL", arguments: TestEngine.allCases)
    func missingClaims(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let nullable = try await Self.merge(
                gateway, "1", #"{"customer":{"name":{"old":"Ann","new":"A"}}}"#, as: Self.bob)
            #expect(nullable.status == 200, "\(nullable.text)")
            #expect(try await Self.who(gateway, 1) == "bob\t-\tapp\n")
            for (client, edit) in [
                (Self.bob, #"{"lines":[{"id":1,"label":{"old":"first","new":"x"}}]}"#),
                (Self.odd, #"{"customer":{"name":{"old":"A","new":"x"}}}"#),
            ] {
                let refused = try await Self.merge(gateway, "1", edit, as: client)
                #expect(refused.status == 403 && refused.text.contains("outside-rows"), "\(refused.text)")
                #expect(refused.text.contains("area"), "\(refused.text)")
            }
        }
    }

    @Test("Pushes that run together keep the stamps of their clients", arguments: TestEngine.allCases)
    func batches(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            for round in 0..<5 {
                try await withThrowingTaskGroup(of: HTTPClient.Answer.self) { group in
                    for (id, client) in [(1, Self.ann), (2, Self.bob), (3, Self.op)] {
                        group.addTask {
                            try await Self.merge(
                                gateway, "\(id)", #"{"customer":{"name":{"old":"","new":"n\#(round)"}}}"#, as: client)
                        }
                    }
                    for try await answer in group { #expect(answer.status == 200, "\(answer.text)") }
                }
                #expect(try await Self.who(gateway, 1) == "ann\tnorth\tapp\n")
                #expect(try await Self.who(gateway, 2) == "bob\t-\tapp\n")
                #expect(try await Self.who(gateway, 3) == "op\thq\tapp\n")
            }
        }
    }

    @Test(
        "Of two resources on one table, the section of the edit decides", arguments: TestEngine.allCases,
        ["push", "edit"])
    func twoResources(_ kind: TestEngine, _ atomic: String) async throws {
        try await Self.with(kind) { gateway in
            func edit(_ resource: String, _ section: String, _ id: Int, _ new: String) -> String {
                #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"name":{"old":"","new":"\#(new)"}}}}"#
            }
            let edits = [
                edit("customers", "customer", 1, "x"), edit("others", "other", 1, "y"), edit("others", "other", 2, "y"),
                edit("customers", "customer", 3, "y"),
                #"{"resource":"plain","id":3,"changeset":{"row":{"by":{"old":"ann","new":"me"}}}}"#,
            ]
            let answer = try await gateway.post(
                "/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#, as: Self.ann)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try await Self.who(gateway, 1) == "ann\tnorth\tother\n")
            #expect(try await Self.who(gateway, 2) == "-\t-\tother\n")
            #expect(try await Self.who(gateway, 3) == "me\tp\tapp\n")
        }
    }

    @Test("An undo of a deletion sets a new stamp, with a separate journal too", arguments: TestEngine.allCases)
    func undoneDeletion(_ kind: TestEngine) async throws {
        for journal in [JournalPlace.together, .ahead] {
            try await Self.with(kind, journal: journal) { gateway in
                let changed = try await Self.merge(
                    gateway, "1", #"{"row":{"name":{"old":"Ann","new":"A"}}}"#, in: "plain")
                #expect(changed.status == 200, "\(changed.text)")
                try await gateway.database.run("UPDATE customers SET area = 'old' WHERE id = 1;")
                let gone = try await Self.merge(gateway, "1", #"{"row":{"old":{},"new":null}}"#, in: "plain")
                #expect(gone.status == 200, "\(gone.text)")
                let undone = try await gateway.post("/v1/journal/2/undo", "{}", as: Self.op)
                #expect(undone.status == 200, "\(undone.text)")
                #expect(try await gateway.database.run("SELECT name, area FROM customers WHERE id = 1;") == "A\tp\n")
            }
        }
    }

    @Test("A stamp may refer to a row that its client cannot read", arguments: TestEngine.allCases)
    func hiddenReference(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE staff (name VARCHAR(20) PRIMARY KEY, team VARCHAR(20));
            CREATE TABLE visits (id INTEGER PRIMARY KEY, note VARCHAR(20), helper VARCHAR(20), by_who VARCHAR(20),
              FOREIGN KEY (helper) REFERENCES staff (name), FOREIGN KEY (by_who) REFERENCES staff (name));
            INSERT INTO staff VALUES ('ann', 'north'), ('bob', 'south');
            INSERT INTO visits (id, note) VALUES (1, 'a');
            """
        let rules = [
            "staff.yaml": """
            resource: staff
            sections: {person: {table: staff, groups: {team: team}}}
            access:
              driver: {read: all, rows: {team: {value: south}}}
            """,
            "visits.yaml": """
            resource: visits
            sections:
              visit: {table: visits, client-keys: allow, groups: {note: note, helper: helper}, stamp: {by_who: {claim: who}}}
            access:
              driver: {read: all, write: all, create: true, rows: all}
            """,
        ]
        let driver = Rounds.Client("ann", ["driver"])
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, tokens: driver.line, journal: .together) { gateway in
            func merge(_ id: Int, _ changeset: String) async throws -> HTTPClient.Answer {
                try await gateway.post("/v1/merge/visits", #"{"id":\#(id),"changeset":\#(changeset)}"#, as: driver)
            }
            let edited = try await merge(1, #"{"visit":{"note":{"old":"a","new":"b"}}}"#)
            #expect(edited.status == 200, "\(edited.text)")
            let made = try await merge(2, #"{"visit":{"old":null,"new":{"note":"c","helper":"bob"}}}"#)
            #expect(made.status == 200, "\(made.text)")
            #expect(try await database.run("SELECT by_who FROM visits;") == "ann\nann\n")
            let hidden = try await merge(1, #"{"visit":{"helper":{"old":null,"new":"ann"}}}"#)
            #expect(hidden.status == 422 && hidden.text.contains("foreign-key"), "\(hidden.text)")
        }
    }

    @Test("A check that returns all changes of a row returns its stamps", arguments: TestEngine.allCases)
    func returnedStamps(_ kind: TestEngine) async throws {
        let sql = """
            CREATE TABLE stocks (id INTEGER PRIMARY KEY, amount INTEGER, note VARCHAR(20), by_who VARCHAR(20));
            INSERT INTO stocks VALUES (1, 5, 'a', 'old'), (2, 5, 'a', 'old'), (3, 5, 'a', 'old');
            """
        let rules = [
            "stocks.yaml": """
            resource: stocks
            sections:
              stock:
                table: stocks
                groups: {amount: amount, note: note}
                stamp: {by_who: {claim: who}}
                checks: [{name: positive, sql: "amount >= 0", fields: [amount], on-failure: server-wins}]
            """,
            "notes.yaml": "resource: notes\nsections: {note: {table: stocks, groups: {note: note}}}\n",
        ]
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await RunningGateway.with(database, rules: rules, tokens: Self.ann.line, journal: .together) { gateway in
            func edit(_ resource: String, _ id: Int, _ changes: String) -> String {
                #"{"resource":"\#(resource)","id":\#(id),"changeset":{\#(changes)}}"#
            }
            let minus = #""stock":{"amount":{"old":5,"new":-1}}"#
            let edits = [
                edit("stocks", 1, minus),
                edit("stocks", 2, #""stock":{"amount":{"old":5,"new":-1},"note":{"old":"a","new":"b"}}"#),
                edit("stocks", 3, minus), edit("notes", 3, #""note":{"note":{"old":"a","new":"c"}}"#),
            ]
            let answer = try await gateway.post(
                "/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#, as: Self.ann)
            #expect(answer.status == 200, "\(answer.text)")
            let rows = try await database.run("SELECT amount, note, by_who FROM stocks ORDER BY id;")
            #expect(rows == "5\ta\told\n5\tb\tann\n5\tc\tann\n")
        }
    }
}
