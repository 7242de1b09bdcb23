import Testing
import TestSupport

/// Two sections, or a section and the schema, read one column under different types.
@Suite(.timeLimit(.minutes(5))) struct MixedTypeTests {
    private static func edit(_ resource: String, _ id: String, _ changes: String) -> String {
        #"{"resource": "\#(resource)", "id": \#(id), "changeset": {"row": {\#(changes)}}}"#
    }

    private static func step(_ group: String, _ old: String, _ new: String) -> String {
        #""\#(group)": {"old": \#(old), "new": \#(new)}"#
    }

    private static let deletion = #""old": {"n": 1}, "new": null"#

    /// The outcomes of the last edit of a push, or the code of its problem.
    private static func last(_ answer: HTTPClient.Answer) throws -> String {
        let result = try answer.json()["results"]?.array.last
        if let code = result?["problem"]?["code"]?.text { return code }
        return (result?["outcomes"]?.array ?? []).map { outcome in
            "\(outcome["group"]?.text ?? "row") \(outcome["outcome"]?.text ?? "")"
        }.joined(separator: ", ")
    }

    private static func push(_ edits: [String]) -> String { #"{"edits": [\#(edits.joined(separator: ","))]}"# }

    // MARK: Two resources

    private static let worker = Rounds.Client("walt", ["worker"])
    private static let helper = Rounds.Client("hana", ["helper"])
    private static let tokens = [worker, helper].map(\.line).joined(separator: "\n")

    private static let jobs = """
        CREATE TABLE jobs (id INTEGER PRIMARY KEY, done TINYINT NOT NULL, n INT, secret VARCHAR(10));
        INSERT INTO jobs VALUES (1, 0, 1, 's1'), (2, 0, 1, 's2'), (3, 1, 1, 's3'), (4, 1, 1, 's4');
        """

    private static let open = "access: {worker: {read: all, write: all}, helper: {read: all, write: all}}"

    private static let jobRules = [
        "flags.yaml": """
        resource: flags
        sections:
          row: {table: jobs, groups: {done: {column: done, type: boolean}}}
        \(open)
        """,
        "steps.yaml": """
        resource: steps
        sections:
          row:
            table: jobs
            groups:
              done: {column: done, transitions: {0: [1], 1: []}}
              n: n
        \(open)
        """,
        "jobs.yaml": """
        resource: jobs
        sections:
          row: {table: jobs, groups: {n: n, secret: secret}}
        access:
          worker: {read: all, write: all, rows: {done: {value: 0}}}
          helper: {read: all, write: all, rows: {done: {not: {value: 1}}}}
        """,
    ]

    private static func withJobs(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: jobs, sqlite: jobs)
        try await RunningGateway.with(database, rules: jobRules, tokens: tokens, journal: .together, body)
    }

    @Test(
        "A row before the push has the types of the section that judges it", arguments: TestEngine.allCases,
        [
            // A second step from a value that the first one wrote.
            ([edit("flags", "1", step("done", "false", "true")), edit("steps", "1", step("done", "1", "5"))], false),
            // The row was hidden before the push.
            ([edit("flags", "3", step("done", "true", "false")), edit("jobs", "3", step("n", "1", "2"))], false),
            // The row was visible before the push, and still is.
            (
                [
                    edit("flags", "2", step("done", "false", "true")),
                    edit("flags", "2", step("done", "true", "false")),
                    edit("jobs", "2", step("n", "1", "2")),
                ], true
            ),
        ])
    func before(_ kind: TestEngine, _ sample: (edits: [String], isAllowed: Bool)) async throws {
        for client in [Self.worker, Self.helper] {
            try await Self.withJobs(kind) { gateway async throws in
                let answer = try await gateway.post("/v1/push", Self.push(sample.edits), as: client)
                #expect(try Self.last(answer).contains("applied") == sample.isAllowed, "\(answer.text)")
            }
        }
    }

    @Test("A preview does not show a row that was hidden before it", arguments: TestEngine.allCases)
    func preview(_ kind: TestEngine) async throws {
        try await Self.withJobs(kind) { gateway async throws in
            let edits = [
                Self.edit("flags", "4", Self.step("done", "true", "false")),
                Self.edit("jobs", "4", Self.step("n", "99", "2")),
            ]
            let answer = try await gateway.post("/v1/push?preview=true", Self.push(edits), as: Self.helper)
            #expect(!answer.text.contains("s4"), "\(answer.text)")
        }
    }

    // MARK: The section and the schema

    private static func restoring(_ type: String, _ condition: String) -> [String: String] {
        [
            "jobs.yaml": """
            resource: jobs
            sections:
              row: {table: jobs, on-missing: restore, groups: {n: n, secret: secret, done: \(type)}}
            access:
              worker: {read: all, write: all, create: true, delete: true, rows: {done: \(condition)}}
              helper: {read: all, write: all, create: true, delete: true, rows: all}
            """
        ]
    }

    @Test(
        "A deleted row is restored for a client that could read it, and missing for others",
        arguments: TestEngine.allCases,
        [
            ("{column: done, type: boolean}", "{value: false}", "{value: true}"), ("done", "{value: 0}", "{value: 1}"),
            ("{column: done, type: boolean}", "{not: {value: true}}", "{not: {value: false}}"),
            (
                "{column: done, type: boolean, values: {true: 1, false: 0}}", "{not: {value: true}}",
                "{not: {value: false}}"
            ),
        ])
    func restored(_ kind: TestEngine, _ sample: (type: String, shown: String, hidden: String)) async throws {
        for (condition, outcome) in [(sample.shown, "row restored"), (sample.hidden, "row missing")] {
            let database = try await TestDatabase(kind, mariadb: Self.jobs, sqlite: Self.jobs)
            try await RunningGateway.with(
                database, rules: Self.restoring(sample.type, condition), tokens: Self.tokens, journal: .together
            ) { gateway async throws in
                let deletion = Self.edit("jobs", "1", Self.deletion)
                let edit = Self.edit("jobs", "1", Self.step("n", "1", "2"))
                let deleted = try await gateway.post("/v1/push", Self.push([deletion]), as: Self.helper)
                #expect(deleted.status == 200, "\(deleted.text)")
                let fromJournal = try await gateway.post("/v1/push", Self.push([edit]), as: Self.worker)
                #expect(try Self.last(fromJournal).contains(outcome.suffix(7)), "\(condition): \(fromJournal.text)")
                if outcome == "row missing" { return }
                #expect(try await database.run("SELECT n, secret FROM jobs WHERE id = 1") == "2\ts1\n")
                let both = [
                    Self.edit("jobs", "2", Self.deletion), Self.edit("jobs", "2", Self.step("n", "1", "2")),
                ]
                let inOne = try await gateway.post("/v1/push", Self.push(both), as: Self.worker)
                #expect(try Self.last(inOne).contains("restored"), "\(condition): \(inOne.text)")
                #expect(try await database.run("SELECT n, secret FROM jobs WHERE id = 2") == "2\ts2\n")
            }
        }
    }

    private static let dayRules = [
        "days.yaml": """
        resource: days
        sections:
          row: {table: days, on-missing: restore, groups: {n: n, note: note}}
          slots: {list: true, table: slots, parent: {day: day}, on-missing: restore, groups: {who: who, note: note}}
        """
    ]

    private static func days(_ type: String, _ day: String) -> String {
        """
        CREATE TABLE days (day \(type) PRIMARY KEY, n INT, note VARCHAR(20));
        INSERT INTO days VALUES ('\(day)', 1, 'keep');
        CREATE TABLE slots (id INTEGER PRIMARY KEY, day \(type) NOT NULL, who VARCHAR(9), note VARCHAR(20));
        INSERT INTO slots VALUES (1, '\(day)', 'a', 'keep'), (2, '\(day)', 'b', 'keep');
        """
    }

    @Test(
        "A restored row whose key is a date has all its values", arguments: TestEngine.allCases,
        [
            ("DATE", "2026-11-20", "2026-11-20"), ("DATETIME", "2026-11-20 10:00:00", "2026-11-20T10:00:00"),
            ("TIME", "10:00:00", "10:00:00"), ("VARCHAR(20)", "2026-11-20", "2026-11-20"),
        ])
    func dateKey(_ kind: TestEngine, _ sample: (type: String, day: String, id: String)) async throws {
        let sql = Self.days(sample.type, sample.day)
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        // SQLite has no dates, so that the key is the stored text.
        let id = "\"\(kind == .sqlite ? sample.day : sample.id)\""
        try await RunningGateway.with(database, rules: Self.dayRules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                func slot(_ change: String) -> String {
                    #"{"resource": "days", "id": \#(id), "changeset": {"slots": [{"id": 1, \#(change)}]}}"#
                }
                let removal = slot(#""old": {"who": "a"}, "new": null"#)
                let change = slot(#""who": {"old": "a", "new": "z"}"#)
                let back = slot(#""who": {"old": "z", "new": "a"}"#)
                for edits in [[removal], [change], [back, removal, change]] {
                    let answer = try await client.post("/v1/push", Self.push(edits))
                    #expect(try answer.json()["status"]?.text == "merged", "\(answer.text)")
                }
                #expect(try await database.run("SELECT who, note FROM slots WHERE id = 1") == "z\tkeep\n")
                let deletion = Self.edit("days", id, Self.deletion)
                let edit = Self.edit("days", id, Self.step("n", "1", "2"))
                let answer = try await client.post("/v1/push", Self.push([deletion, edit]))
                #expect(try Self.last(answer).contains("restored"), "\(answer.text)")
                #expect(try await database.run("SELECT n, note FROM days") == "2\tkeep\n")
            }
        }
    }

    // MARK: The feed

    @Test("The feed names the record by the types of its key", arguments: TestEngine.allCases)
    func feed(_ kind: TestEngine) async throws {
        let prices = """
            CREATE TABLE prices (id INTEGER NOT NULL UNIQUE, article INT NOT NULL, gross TINYINT NOT NULL, price INT,
              PRIMARY KEY (article, gross));
            INSERT INTO prices VALUES (1, 5, 1, 10), (2, 5, 0, 20);
            """
        let rules = [
            "byid.yaml": """
            resource: byid
            sections:
              row:
                table: prices
                key: id
                read-only: {gross: {column: gross, type: boolean}, article: article}
                groups: {price: price}
            """,
            "bykey.yaml": """
            resource: bykey
            sections:
              row: {table: prices, key: [article, gross], groups: {price: price}}
            """,
        ]
        let database = try await TestDatabase(kind, mariadb: prices, sqlite: prices)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let position = try await client.position()
                let edit = Self.edit("byid", "1", Self.step("price", "10", "11"))
                _ = try await client.push(edit)
                let page = try await client.changes(after: position)
                let names = page["changes"]?.array.map { change in
                    let id = change["id"]
                    return (change["resource"]?.text ?? "")
                        + " \(id?.int.map { [$0] } ?? id?.array.compactMap(\.int) ?? [])"
                }
                #expect(names.map { Set($0) } == ["byid [1]", "bykey [5, 1]"], "\(page)")
            }
        }
    }
}
