import Testing
import TestSupport

/// Transitions between values, and frozen rows.
@Suite(.timeLimit(.minutes(5))) struct GuardTests {
    private static let mariadb = """
        CREATE TABLE jobs (id INT PRIMARY KEY, status VARCHAR(20), note VARCHAR(40), strict VARCHAR(20));
        CREATE TABLE tasks (id INT PRIMARY KEY, job INT, title VARCHAR(40), done INT NOT NULL DEFAULT 0);
        """
    private static let rules = [
        "jobs.yaml": """
        resource: jobs
        sections:
          job:
            table: jobs
            frozen-when: "status = 'closed'"
            groups:
              status: {column: status, transitions: {new: [open], open: [closed, new], closed: []}}
              note: note
              strict: {column: strict, on-conflict: reject, transitions: {a: [b]}}
          tasks:
            list: true
            table: tasks
            parent: {job: id}
            frozen-when: "done = 1"
            groups: {title: title, done: done}
        """,
        "steps.yaml": """
        resource: steps
        sections:
          step:
            table: jobs
            groups: {note: note, status: status}
        """,
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: mariadb, sqlite: mariadb)
        try await database.run(
            """
            INSERT INTO jobs VALUES (1, 'new', 'n', 'a'), (2, 'open', 'n', 'a'), (3, 'closed', 'n', 'a');
            INSERT INTO tasks VALUES (1, 1, 't', 0), (2, 2, 't', 1), (3, 3, 't', 0);
            """)
        try await RunningGateway.with(database, rules: rules, journal: .together, body)
    }

    private static func outcomes(_ answer: HTTPClient.Answer, _ result: Int? = nil) throws -> [String] {
        let body = try answer.json()
        let reported = result.flatMap { body["results"]?[$0] } ?? body
        return (reported["outcomes"]?.array ?? []).map { outcome in
            "\(outcome["group"]?.text ?? "row") \(outcome["outcome"]?.text ?? "") \(outcome["rule"]?.text ?? "")"
        }
    }

    @Test(
        "Transitions are checked", arguments: TestEngine.allCases,
        [
            (1, "new", "open", "status applied default"), (1, "new", "closed", "status server-won jobs.yaml:7"),
            (1, "new", "new", ""), (1, "old", "new", "status already default"),
            (2, "open", "new", "status applied default"),
            (2, "new", "closed", "status client-won default"), (1, "new", "other", "status server-won jobs.yaml:7"),
        ])
    func steps(_ kind: TestEngine, _ step: (id: Int, old: String, new: String, outcome: String)) async throws {
        try await Self.with(kind) { gateway in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/merge/jobs",
                    #"{"id": \#(step.id), "changeset": {"job": {"status": {"old": "\#(step.old)", "new": "\#(step.new)"}}}}"#
                )
            }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try Self.outcomes(answer).joined(separator: ",") == step.outcome, "\(answer.text)")
        }
    }

    @Test("With on-conflict: reject, a forbidden step rejects the push", arguments: TestEngine.allCases)
    func reject(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/merge/jobs", #"{"id": 1, "changeset": {"job": {"strict": {"old": "a", "new": "c"}}}}"#)
            }
            #expect(answer.status == 409 && answer.text.contains(#""rule":"jobs.yaml:9""#), "\(answer.text)")
        }
    }

    @Test(
        "The problem of a rejected push names the guard and its line", arguments: TestEngine.allCases,
        [
            (1, #""strict": {"old": "a", "new": "c"}"#, "“strict”", "“transitions”", "jobs.yaml:9"),
            (3, #""strict": {"old": "a", "new": "b"}"#, "“strict”", "“frozen-when”", "jobs.yaml:5"),
        ])
    func problemsNameTheGuard(
        _ kind: TestEngine, _ guarded: (id: Int, edit: String, group: String, guard: String, rule: String)
    ) async throws {
        try await Self.with(kind) { gateway in
            for path in ["/v1/merge/jobs", "/v1/merge/jobs?preview=true"] {
                let answer = try await gateway.client {
                    try await $0.post(path, #"{"id": \#(guarded.id), "changeset": {"job": {\#(guarded.edit)}}}"#)
                }
                let problem = try answer.json()["problem"]
                #expect(answer.status == 409 && problem?["code"]?.text == "rejected", "\(answer.text)")
                #expect(problem?["rule"]?.text == guarded.rule, "\(answer.text)")
                let detail = problem?["detail"]?.text ?? ""
                for part in [guarded.group, guarded.guard, guarded.rule] { #expect(detail.contains(part), "\(detail)") }
            }
            // A conflict of two sides names no guard.
            try await gateway.database.run("UPDATE jobs SET strict = 'b' WHERE id = 1")
            let conflict = try await gateway.client {
                try await $0.post(
                    "/v1/merge/jobs", #"{"id": 1, "changeset": {"job": {"strict": {"old": "a", "new": "c"}}}}"#)
            }
            #expect(conflict.status == 409 && !conflict.text.contains("“transitions”"), "\(conflict.text)")
        }
    }

    /// Both steps are tested from the value before the push, whichever resource makes the first.
    @Test("Two steps in one push are tested from the first value", arguments: TestEngine.allCases, ["jobs", "steps"])
    func twoSteps(_ kind: TestEngine, _ first: String) async throws {
        try await Self.with(kind) { gateway in
            let section = first == "jobs" ? "job" : "step"
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/push",
                    #"{"edits": [{"resource": "\#(first)", "id": 1, "changeset": {"\#(section)": {"status": {"old": "new", "#
                        + #""new": "open"}}}}, {"resource": "jobs", "id": 1, "changeset": {"job": {"status": {"old": "open", "#
                        + #""new": "closed"}}}}]}"#)
            }
            #expect(try Self.outcomes(answer, 1) == ["status server-won jobs.yaml:7"], "\(answer.text)")
            #expect(try await gateway.database.run("SELECT status FROM jobs WHERE id = 1").contains("open"))
        }
    }

    /// A row that the push itself creates was none before it, so nothing guards it in the same push.
    @Test("Rows that a push creates are not guarded in it", arguments: TestEngine.allCases, ["jobs", "steps"])
    func createdRows(_ kind: TestEngine, _ creator: String) async throws {
        try await Self.with(kind) { gateway in
            let section = creator == "jobs" ? "job" : "step"
            @Sendable func edit(_ resource: String, _ changeset: String) -> String {
                #"{"resource": "\#(resource)", "id": 9, "changeset": {\#(changeset)}}"#
            }
            let creation = edit(creator, #""\#(section)": {"old": null, "new": {"status": "closed", "note": "n"}}"#)
            let answer = try await gateway.client {
                try await $0.post(
                    "/v1/push",
                    #"{"edits": [\#(creation), "#
                        + edit(
                            "jobs",
                            #""job": {"note": {"old": "n", "new": "m"}, "status": {"old": "closed", "new": "new"}}"#)
                        + "," + edit("jobs", #""tasks": [{"id": 9, "old": null, "new": {"title": "t", "done": 1}}]"#)
                        + "," + edit("jobs", #""tasks": [{"id": 9, "title": {"old": "t", "new": "u"}}]"#) + "]}")
            }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(
                try Self.outcomes(answer, 1) == ["note applied default", "status applied default"], "\(answer.text)")
            #expect(try Self.outcomes(answer, 3) == ["title applied default"], "\(answer.text)")
            // From then on they are guarded.
            let later = try await gateway.client {
                try await $0.post(
                    "/v1/merge/jobs",
                    #"{"id": 9, "changeset": {"tasks": [{"id": 9, "title": {"old": "u", "new": "v"}}]}}"#)
            }
            #expect(try Self.outcomes(later) == ["title server-won jobs.yaml:14"], "\(later.text)")
            let gone = try await gateway.client {
                try await $0.post(
                    "/v1/push",
                    #"{"edits": [{"resource": "jobs", "id": 8, "changeset": {"job": {"old": null, "new": {"status": "closed"}}}}, "#
                        + #"{"resource": "jobs", "id": 8, "changeset": {"job": {"old": {"status": "closed"}, "new": null}}}]}"#
                )
            }
            #expect(try Self.outcomes(gone, 1) == ["row deleted default"], "\(gone.text)")
        }
    }

    @Test("Frozen rows are not written", arguments: TestEngine.allCases)
    func frozenRows(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            try await gateway.client { client in
                let edit = try await client.post(
                    "/v1/merge/jobs",
                    #"{"id": 3, "changeset": {"job": {"note": {"old": "n", "new": "x"}, "strict": {"old": "a", "new": "a"}}, "#
                        + #""tasks": [{"id": 3, "title": {"old": "t", "new": "u"}}]}}"#)
                #expect(
                    try Self.outcomes(edit) == ["note server-won jobs.yaml:5", "title applied default"], "\(edit.text)")
                let rejected = try await client.post(
                    "/v1/merge/jobs", #"{"id": 3, "changeset": {"job": {"strict": {"old": "a", "new": "b"}}}}"#)
                #expect(rejected.status == 409, "\(rejected.text)")
                let kept = try await client.post(
                    "/v1/merge/jobs", #"{"id": 3, "changeset": {"job": {"old": {"note": "n"}, "new": null}}}"#)
                #expect(try Self.outcomes(kept) == ["row kept jobs.yaml:5"], "\(kept.text)")
                let item = try await client.post(
                    "/v1/merge/jobs",
                    #"{"id": 2, "changeset": {"tasks": [{"id": 2, "old": {"title": "t"}, "new": null}]}}"#)
                #expect(try Self.outcomes(item) == ["row kept jobs.yaml:14"], "\(item.text)")
                let root = try await client.post(
                    "/v1/merge/jobs", #"{"id": 2, "changeset": {"job": {"old": {"note": "n"}, "new": null}}}"#)
                #expect(try Self.outcomes(root) == ["row kept jobs.yaml:14"], "\(root.text)")
                // The value before the push decides, not the value after an earlier edit.
                let both = try await client.post(
                    "/v1/push",
                    #"{"edits": [{"resource": "steps", "id": 2, "changeset": {"step": {"status": {"old": "open", "new": "#
                        + #""closed"}}}}, {"resource": "jobs", "id": 2, "changeset": {"job": {"note": {"old": "n", "new": "z"}}}}]}"#
                )
                #expect(try Self.outcomes(both, 1) == ["note applied default"], "\(both.text)")
            }
        }
    }

    /// Taking back and sending again obey them like any push.
    @Test("An undo obeys transitions", arguments: TestEngine.allCases)
    func undoOfSteps(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            try await gateway.client { client in
                _ = try await client.post(
                    "/v1/merge/jobs", #"{"id": 1, "changeset": {"job": {"status": {"old": "new", "new": "open"}}}}"#)
                try await gateway.database.run("UPDATE jobs SET status = 'closed' WHERE id = 1")
                let entry = try await client.get("/v1/journal").json()["entries"]?[0]?["entry"]?.int ?? 1
                let undone = try await client.post("/v1/journal/\(entry)/undo", "{}")
                #expect(!undone.text.contains(#""applied""#), "\(undone.text)")
                #expect(try await gateway.database.run("SELECT status FROM jobs WHERE id = 1").contains("closed"))
            }
        }
    }

    /// An undo keeps the values of a frozen row, the row itself, and the value that froze it.
    @Test(
        "An undo does not write a frozen row", arguments: TestEngine.allCases,
        [
            (
                #""job": {"note": {"old": "n", "new": "m"}}"#, "UPDATE jobs SET status = 'closed' WHERE id = 1",
                "note server-won jobs.yaml:5"
            ),
            (
                #""tasks": [{"id": 1, "title": {"old": "t", "new": "u"}}]"#, "UPDATE tasks SET done = 1 WHERE id = 1",
                "title server-won jobs.yaml:14"
            ),
            (
                #""tasks": [{"id": 1, "done": {"old": 0, "new": 1}}]"#, "UPDATE jobs SET note = 'o' WHERE id = 1",
                "done server-won jobs.yaml:14"
            ),
            (
                #""tasks": [{"id": 9, "old": null, "new": {"title": "t", "done": 1}}]"#,
                "UPDATE jobs SET note = 'o' WHERE id = 1", "row kept jobs.yaml:14"
            ),
        ])
    func undo(_ kind: TestEngine, _ step: (changes: String, meanwhile: String, outcome: String)) async throws {
        try await Self.with(kind) { gateway in
            try await gateway.client { client in
                let edit = try await client.post(
                    "/v1/merge/jobs", #"{"id": 1, "changeset": {\#(step.changes)}}"#)
                #expect(edit.status == 200, "\(edit.text)")
                try await gateway.database.run(step.meanwhile)
                let rows = try await gateway.database.run("SELECT * FROM jobs; SELECT * FROM tasks")
                let undone = try await client.post("/v1/journal/1/undo", "{}")
                #expect(try Self.outcomes(undone) == [step.outcome], "\(undone.text)")
                #expect(try await gateway.database.run("SELECT * FROM jobs; SELECT * FROM tasks") == rows)
            }
        }
    }

    /// Under STATEMENT, transactions have a snapshot, which a lock may outlive.
    @Test(
        "Under binlog STATEMENT a row is frozen that another program froze before it was locked", .tags(.mariadb),
        .needsMariaDB)
    func guardsReadLockedRows() async throws {
        let server = try await PrivateMariaDB(options: ["--log-bin", "--binlog-format=STATEMENT"])
        let database = try await TestDatabase(.mariadb, mariadb: Self.mariadb, sqlite: "", server: server)
        try await database.run(
            "INSERT INTO jobs VALUES (1, 'open', 'n', 'a'); INSERT INTO tasks VALUES (1, 1, 't', 0);")
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            let other = try database.session()
            try await other.run("BEGIN; UPDATE tasks SET done = 1 WHERE id = 1;")
            try await gateway.client { client async throws in
                async let answer = client.post(
                    "/v1/push",
                    #"{"edits": [{"resource": "jobs", "id": 1, "changeset": {"job": {"note": {"old": "n", "new": "m"}}}}, "#
                        + #"{"resource": "jobs", "id": 1, "changeset": {"tasks": [{"id": 1, "title": {"old": "t", "new": "u"}}]}}]}"#
                )
                // The push waits for the item, and has looked at the guard of the root by then. InnoDB's tables in
                // information_schema are not renewed while they are read all the time.
                try await OutageTests.until {
                    !(try await server.run("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")).hasSuffix(
                        "\t0\n")
                }
                try await other.run("COMMIT;")
                let reported = try await answer
                #expect(try Self.outcomes(reported, 1) == ["title server-won jobs.yaml:14"], "\(reported.text)")
                #expect(try await database.run("SELECT title FROM tasks") == "t\n")
            }
        }
        server.kill()
    }
}
