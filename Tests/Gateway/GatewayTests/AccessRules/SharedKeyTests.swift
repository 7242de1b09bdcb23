import Testing
import TestSupport

/// Two resources that find the rows of one table by different keys.
@Suite(.timeLimit(.minutes(5))) struct SharedKeyTests {
    private static func sql(_ key: String, number: String = "INT") -> String {
        """
        CREATE TABLE areas (id INT PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE);
        CREATE TABLE orders (id \(key), number \(number) NOT NULL UNIQUE, status VARCHAR(20), note VARCHAR(20),
          locked INT NOT NULL DEFAULT 0, area VARCHAR(20), due DATE,
          FOREIGN KEY (area) REFERENCES areas (code) ON UPDATE CASCADE);
        INSERT INTO areas VALUES (1, 'north'), (2, 'south'), (3, 'shut');
        INSERT INTO orders (id, number, status, note, locked, area) VALUES (1, 11, 'draft', 'n', 0, 'north'),
          (2, 12, 'closed', 'n', 0, 'south'), (3, 13, 'open', 'n', 0, 'shut'), (5, 50, 'draft', 'n', 1, 'south');
        """
    }
    private static let steps = "transitions: {draft: [open], open: [closed], closed: []}"
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            frozen-when: "locked = 1 OR area = 'shut'"
            groups:
              status: {column: status, \(steps)}
              note: note
              locked: locked
              area: area
              number: number
        access:
          reader: {read: all, write: [order.area, order.status, order.number], rows: all}
          packer: {read: all, write: all, create: true, rows: {area: {value: south}}}
          office: {read: all, write: all, create: true, delete: true, rows: all}
        """,
        "tickets.yaml": """
        resource: tickets
        sections:
          ticket:
            table: orders
            key: number
            client-keys: allow
            groups:
              status: {column: status, \(steps)}
              note: note
              locked: locked
              area: area
              due: due
        access:
          reader: {read: all, write: all, create: true, rows: {area: {any: [{value: north}, {value: south}, {value: shut}]}}}
          office: {read: all, write: all, create: true, delete: true, rows: all}
        """,
        "areas.yaml": """
        resource: areas
        sections:
          area:
            table: areas
            groups: {code: code}
        access:
          reader: {read: all, write: all, rows: all}
          office: {read: all, write: all, create: true, delete: true, rows: all}
        """,
    ]
    private static let office = Rounds.Client("olga", ["office"])
    private static let packer = Rounds.Client("pat", ["reader", "packer"])

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: sql("INT AUTO_INCREMENT PRIMARY KEY"),
            sqlite: sql("INTEGER PRIMARY KEY"))
        try await RunningGateway.with(
            database, rules: rules, tokens: [office, packer].map(\.line).joined(separator: "\n"), journal: .together,
            body)
    }

    private static func edit(_ resource: String, _ id: Int, _ changes: String) -> String {
        #"{"resource": "\#(resource)", "id": \#(id), "changeset": {"\#(resource.dropLast())": {\#(changes)}}}"#
    }

    private static func step(_ group: String, _ old: String, _ new: String) -> String {
        #""\#(group)": {"old": \#(old), "new": \#(new)}"#
    }

    private static func status(_ old: String, _ new: String) -> String { step("status", "\"\(old)\"", "\"\(new)\"") }

    private static let note = step("note", "\"n\"", "\"m\"")

    /// The outcomes of the last edit of a push, or the code of its problem.
    private static func last(_ answer: HTTPClient.Answer) throws -> String {
        let result = try answer.json()["results"]?.array.last
        if let code = result?["problem"]?["code"]?.text { return code }
        return (result?["outcomes"]?.array ?? []).map { outcome in
            "\(outcome["group"]?.text ?? "row") \(outcome["outcome"]?.text ?? "")"
        }.joined(separator: ", ")
    }

    private static func expect(
        _ outcome: String, of edits: [String], as client: Rounds.Client, _ kind: TestEngine
    ) async throws {
        try await with(kind) { gateway async throws in
            let answer = try await gateway.post(
                "/v1/push", #"{"edits": [\#(edits.joined(separator: ","))]}"#, as: client)
            #expect(try last(answer) == outcome, "\(edits): \(answer.text)")
        }
    }

    @Test(
        "A step is tested from the row's value before the push, whichever key named the row",
        arguments: TestEngine.allCases,
        [
            // Another row of the same resource.
            (
                [edit("orders", 1, status("draft", "open")), edit("orders", 2, status("closed", "open"))],
                "status server-won"
            ),
            // The same row by its other key.
            (
                [edit("tickets", 11, status("draft", "open")), edit("orders", 1, status("open", "closed"))],
                "status server-won"
            ),
            (
                [edit("orders", 1, status("draft", "open")), edit("tickets", 11, status("open", "closed"))],
                "status server-won"
            ),
            // The same row, named by a key that the push has written.
            (
                [
                    edit("orders", 1, status("draft", "open") + "," + step("number", "11", "19")),
                    edit("tickets", 19, status("open", "closed")),
                ], "status server-won"
            ),
        ])
    func steps(_ kind: TestEngine, _ push: (edits: [String], outcome: String)) async throws {
        try await Self.expect(push.outcome, of: push.edits, as: Self.office, kind)
    }

    @Test(
        "A row keeps its guards if two resources read its new key as two types", arguments: TestEngine.allCases)
    func typesOfOneKey(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.sql("INT AUTO_INCREMENT PRIMARY KEY", number: "DECIMAL(10,0)"),
            sqlite: Self.sql("INTEGER PRIMARY KEY", number: "DECIMAL(10,0)"))
        var rules = Self.rules
        rules["orders.yaml"] = rules["orders.yaml"]?.replacing(
            "number: number", with: "number: {column: number, type: integer}")
        try await RunningGateway.with(
            database, rules: rules, tokens: [Self.office].map(\.line).joined(separator: "\n"), journal: .together
        ) { gateway async throws in
            let edits = [
                Self.edit("orders", 1, Self.status("draft", "open") + "," + Self.step("number", "11", "19")),
                Self.edit("tickets", 19, Self.status("open", "closed")).replacing(": 19,", with: #": "19","#),
            ]
            let answer = try await gateway.post(
                "/v1/push", #"{"edits": [\#(edits.joined(separator: ","))]}"#, as: Self.office)
            #expect(try Self.last(answer) == "status server-won", "\(answer.text)")
        }
    }

    @Test(
        "A created row has no guards in its push, and a row whose other key has its value keeps them",
        arguments: TestEngine.allCases, [(5, "note server-won"), (6, "note applied")])
    func frozen(_ kind: TestEngine, _ order: (id: Int, outcome: String)) async throws {
        let new = #""old": null, "new": {"note": "n", "locked": 1}"#
        try await Self.expect(
            order.outcome, of: [Self.edit("tickets", 5, new), Self.edit("orders", order.id, Self.note)],
            as: Self.office, kind)
    }

    @Test(
        "A row is frozen as it was before the push, also if an edit by its other key unlocks it",
        arguments: TestEngine.allCases)
    func unlocked(_ kind: TestEngine) async throws {
        try await Self.expect(
            "note server-won",
            of: [Self.edit("tickets", 50, Self.step("locked", "1", "0")), Self.edit("orders", 5, Self.note)],
            as: Self.office, kind)
    }

    @Test(
        "A role counts if it applied to the row before the push", arguments: TestEngine.allCases,
        [
            ("orders", 1, 2, "note applied"), ("tickets", 11, 2, "note applied"), ("tickets", 11, 1, "no-right"),
            ("orders", 1, 1, "no-right"),
        ])
    func rights(_ kind: TestEngine, _ push: (resource: String, id: Int, order: Int, outcome: String)) async throws {
        let move = Self.edit(push.resource, push.id, Self.step("area", "\"north\"", "\"south\""))
        try await Self.expect(
            push.outcome, of: [move, Self.edit("orders", push.order, Self.note)], as: Self.packer, kind)
    }

    @Test(
        "A value that a foreign key changes along brings no right and lifts no guard in its push",
        arguments: TestEngine.allCases)
    func cascades(_ kind: TestEngine) async throws {
        let south = Self.edit("areas", 2, Self.step("code", "\"south\"", "\"east\""))
        let north = Self.edit("areas", 1, Self.step("code", "\"north\"", "\"south\""))
        try await Self.expect(
            "no-right", of: [south, north, Self.edit("orders", 1, Self.note)], as: Self.packer, kind)
        let opened = Self.edit("areas", 3, Self.step("code", "\"shut\"", "\"west\""))
        try await Self.expect(
            "note server-won", of: [opened, Self.edit("orders", 3, Self.note)], as: Self.office, kind)
    }

    @Test(
        "An unreadable value of another resource does not refuse an edit of the row", arguments: TestEngine.allCases)
    func unreadable(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway async throws in
            try await gateway.database.run(
                kind == .mariadb
                    ? "SET sql_mode = 'ALLOW_INVALID_DATES'; UPDATE orders SET due = '2001-02-31' WHERE id = 1"
                    : "UPDATE orders SET due = CAST(x'ff' AS TEXT) WHERE id = 1")
            let answer = try await gateway.post(
                "/v1/push", #"{"edits": [\#(Self.edit("orders", 1, Self.note))]}"#, as: Self.office)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try Self.last(answer) == "note applied", "\(answer.text)")
        }
    }
}
