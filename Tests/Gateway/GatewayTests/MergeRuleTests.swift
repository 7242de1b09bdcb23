import Testing
import TestSupport

/// The keys of rules that decide how rows and groups are merged, from HTTP to SQL, on both engines.
@Suite struct MergeRuleTests {
    private static let mariadb = """
        CREATE TABLE accounts (id INT PRIMARY KEY AUTO_INCREMENT, email VARCHAR(40) NOT NULL UNIQUE,
          balance DECIMAL(8,2) NOT NULL DEFAULT 0, seats DECIMAL(3,0) NOT NULL DEFAULT 0, best INT, tags VARCHAR(60),
          notes TEXT, prefs JSON, state VARCHAR(10), state_at DATETIME, starts_on DATE, ends_on DATE,
          credit INT NOT NULL DEFAULT 0, floor_amount INT NOT NULL DEFAULT 0, region VARCHAR(10) NOT NULL DEFAULT 'south',
          deleted INT NOT NULL DEFAULT 0) ENGINE=InnoDB;
        CREATE TABLE account_lines (id INT PRIMARY KEY AUTO_INCREMENT, account_id INT NOT NULL, sku VARCHAR(20) NOT NULL,
          pieces INT NOT NULL DEFAULT 1, gone_at DATETIME NULL, UNIQUE (account_id, sku),
          FOREIGN KEY (account_id) REFERENCES accounts (id)) ENGINE=InnoDB;
        CREATE TABLE remarks (id INT PRIMARY KEY AUTO_INCREMENT, account_id INT NOT NULL, remark VARCHAR(20) NOT NULL,
          weight INT NOT NULL DEFAULT 7) ENGINE=InnoDB;
        """ + rows
    private static let sqlite = """
        CREATE TABLE accounts (id INTEGER PRIMARY KEY AUTOINCREMENT, email VARCHAR(40) NOT NULL UNIQUE,
          balance DECIMAL(8,2) NOT NULL DEFAULT 0, seats DECIMAL(3,0) NOT NULL DEFAULT 0, best INT, tags VARCHAR(60),
          notes TEXT, prefs JSON, state VARCHAR(10), state_at DATETIME, starts_on DATE, ends_on DATE,
          credit INT NOT NULL DEFAULT 0, floor_amount INT NOT NULL DEFAULT 0, region VARCHAR(10) NOT NULL DEFAULT 'south',
          deleted INT NOT NULL DEFAULT 0);
        CREATE TABLE account_lines (id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INT NOT NULL REFERENCES accounts (id),
          sku VARCHAR(20) NOT NULL, pieces INT NOT NULL DEFAULT 1, gone_at DATETIME NULL, UNIQUE (account_id, sku));
        CREATE TABLE remarks (id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INT NOT NULL,
          remark VARCHAR(20) NOT NULL, weight INT NOT NULL DEFAULT 7);
        """ + rows
    private static let rows = """
        INSERT INTO accounts (id, email, balance, seats, best, tags, notes, prefs, state, state_at, starts_on, ends_on, credit)
        VALUES (1, 'a@x', 10, 100, 5, 'red,blue', 'one two three', '{"a":1,"b":{"c":2}}', 'new', '2026-01-01 10:00:00',
          '2026-01-01', '2026-02-01', 5), (2, 'b@x', 20, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
        INSERT INTO accounts (id, email, deleted) VALUES (3, 'gone@x', 1);
        INSERT INTO accounts (id, email, region) VALUES (4, 'north@x', 'north');
        INSERT INTO account_lines (id, account_id, sku, pieces, gone_at) VALUES (1, 1, 'pen', 3, NULL), (2, 1, 'ink', 1,
          '2026-01-01 00:00:00'), (3, 2, 'pen', 9, NULL);
        INSERT INTO remarks (id, account_id, remark) VALUES (1, 1, 'x');
        """
    private static let rules = [
        "accounts.yaml": """
        resource: accounts
        sections:
          account:
            table: accounts
            identity: [email]
            where: "deleted = 0 AND region = 'south' -- the others are another gateway's"
            delete: {set: {deleted: 1}}
            groups:
              email: email
              balance: {column: balance, merge: add}
              seats: {column: seats, merge: add, on-conflict: server-wins}
              best: {column: best, merge: max}
              tags: {column: tags, type: set, merge: set}
              notes: {column: notes, type: text, merge: text, on-conflict: server-wins}
              prefs: {column: prefs, type: json, merge: json, on-conflict: reject}
              state:
                fields: {state: state, at: state_at}
                merge: {latest: at}
              from: starts_on
              until: ends_on
              credit: credit
              floor: floor_amount
              region: region
            checks:
              - {name: period-order, sql: "starts_on <= ends_on", fields: [from, until]}
              - {name: credit-floor, sql: "credit >= floor_amount", fields: [credit, floor], on-failure: server-wins}
          lines:
            list: true
            table: account_lines
            parent: {account_id: id}
            identity: [sku]
            where: gone_at IS NULL
            delete: {set: {gone_at: CURRENT_TIMESTAMP}}
            groups: {sku: sku, pieces: {column: pieces, merge: add}}
          remarks:
            list: true
            table: remarks
            parent: {account_id: id}
            on-missing: restore
            groups: {remark: remark, weight: weight}
        """
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: mariadb, sqlite: sqlite)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    /// Sends the changeset of account 1, and returns the answer.
    private static func merge(
        _ client: HTTPClient.Session, _ account: String, id: Int = 1, preview: Bool = false
    ) async throws -> HTTPClient.Answer {
        try await client.post(
            "/v1/merge/accounts" + (preview ? "?preview=true" : ""),
            #"{"id":\#(id),"changeset":{"account":\#(account)}}"#)
    }

    struct Conflict: Sendable, CustomTestStringConvertible {
        let group: String
        let sql: String
        let old: String
        let new: String
        let outcome: String
        let written: String
        let line: Int?
        var contains: [String] = []
        /// The only engine with this behaviour; nil for both.
        var engine: TestEngine?

        var testDescription: String { "\(group): \(old) to \(new) over \(sql)" }
    }

    static let conflicts = [
        Conflict(
            group: "balance", sql: "balance = 12.25", old: "\"10.00\"", new: "\"7.50\"", outcome: "combined",
            written: "\"9.75\"", line: 10),
        Conflict(
            group: "balance", sql: "balance = 12", old: "\"10.00\"", new: "\"999999.99\"", outcome: "client-won",
            written: "\"999999.99\"", line: nil,
            contains: ["\"rule\":\"default\"", "\"fallback\":\"merge: add did not run"], engine: .mariadb),
        // The digits before the point bind nothing there.
        Conflict(
            group: "balance", sql: "balance = 12", old: "\"10.00\"", new: "\"999999.99\"", outcome: "combined",
            written: "\"1000001.99\"", line: 10, engine: .sqlite),
        Conflict(
            group: "seats", sql: "seats = 900", old: #""100""#, new: #""300""#, outcome: "server-won",
            written: #""900""#, line: 11,
            contains: ["\"fallback\":\"merge: add did not run"], engine: .mariadb),
        Conflict(group: "best", sql: "best = 9", old: "5", new: "7", outcome: "combined", written: "9", line: 12),
        Conflict(
            group: "best", sql: "best = NULL", old: "5", new: "7", outcome: "client-won", written: "7", line: nil,
            contains: ["NULL"]),
        Conflict(
            group: "tags", sql: "tags = 'green,red,blue'", old: #"["red","blue"]"#, new: #"["red","pink"]"#,
            outcome: "combined", written: #"["green","red","pink"]"#, line: 13),
        Conflict(
            group: "notes", sql: "notes = 'zero one two three'", old: "\"one two three\"", new: "\"one two four\"",
            outcome: "combined", written: "\"zero one two four\"", line: 14),
        Conflict(
            group: "notes", sql: "notes = 'one 2 three'", old: "\"one two three\"", new: "\"one deux three!\"",
            outcome: "combined", written: "\"one 2 three!\"", line: 14,
            contains: [
                #""parts":[{"line":1,"outcome":"server-won","old":"two","current":"2","new":"deux","written":"2"}]"#
            ]),
        Conflict(
            group: "prefs", sql: #"prefs = '{"a":1,"b":{"c":3},"d":4}'"#, old: #"{"a":1,"b":{"c":2}}"#,
            new: #"{"a":9,"b":{"c":2}}"#, outcome: "combined", written: #"{"a":9,"b":{"c":3},"d":4}"#, line: 15),
        Conflict(
            group: "state", sql: "state = 'sent', state_at = '2026-03-01 10:00:00'",
            old: #"{"state":"new","at":"2026-01-01T10:00:00"}"#, new: #"{"state":"paid","at":"2026-02-01T10:00:00"}"#,
            outcome: "server-won", written: #"{"at":"2026-03-01T10:00:00","state":"sent"}"#, line: 18),
        Conflict(
            group: "state", sql: "state = 'sent', state_at = '2026-03-01 10:00:00'",
            old: #"{"state":"new","at":"2026-01-01T10:00:00"}"#, new: #"{"state":"paid","at":"2026-04-01T10:00:00"}"#,
            outcome: "client-won", written: #"{"at":"2026-04-01T10:00:00","state":"paid"}"#, line: 18),
    ]

    @Test("Merge functions decide conflicts", arguments: TestEngine.allCases, conflicts)
    func functions(_ kind: TestEngine, _ test: Conflict) async throws {
        guard test.engine == nil || test.engine == kind else { return }
        try await Self.with(kind) { client, database in
            try await database.run("UPDATE accounts SET \(test.sql) WHERE id = 1;")
            let answer = try await Self.merge(client, #"{"\#(test.group)":{"old":\#(test.old),"new":\#(test.new)}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let outcome = try answer.json()["outcomes"]?[0]
            #expect(outcome?["outcome"]?.text == test.outcome, "\(answer.text)")
            #expect(outcome?["conflict"]?.bool == true)
            #expect(outcome?["written"]?.description == (try JSON(test.written)).description)
            #expect(outcome?["rule"]?.text == (test.line.map { "accounts.yaml:\($0)" } ?? "default"))
            for part in test.contains { #expect(answer.text.contains(part), "\(answer.text)") }
            let record = try await client.get("/v1/records/accounts/1").json()
            #expect(try answer.json()["record"] == record)
        }
    }

    @Test("A conflicting part under reject refuses the push", arguments: TestEngine.allCases)
    func rejectedPart(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run(#"UPDATE accounts SET prefs = '{"a":2,"b":{"c":2}}' WHERE id = 1;"#)
            let answer = try await Self.merge(
                client, #"{"prefs":{"old":{"a":1,"b":{"c":2}},"new":{"a":3,"b":{"c":9}}}}"#)
            #expect(answer.status == 409)
            let outcome = try answer.json()["outcomes"]?[0]
            #expect(outcome?["outcome"]?.text == "rejected")
            #expect(outcome?["parts"]?[0]?["path"]?.text == "/a")
            #expect(outcome?["written"]?.description == #"{"a":2,"b":{"c":2}}"#)
        }
    }

    @Test("A created row is recognised by its identity", arguments: TestEngine.allCases)
    func identity(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/push",
                #"""
                {"edits":[{"resource":"accounts","id":"tmp:a","changeset":{
                  "account":{"old":null,"new":{"email":"a@x","balance":"11.00","tags":["red","new"]}},
                  "lines":[{"id":-1,"old":null,"new":{"sku":"pen","pieces":4}},{"id":-2,"old":null,"new":{"sku":"cap"}}]}},
                 {"resource":"accounts","id":"tmp:a","changeset":{"account":{"credit":{"old":5,"new":6}}}}]}
                """#)
            #expect(answer.status == 200, "\(answer.text)")
            let first = try answer.json()["results"]?[0]
            #expect(first?["id"]?.int == 1)
            #expect(first?["ids"]?["tmp:a"]?.int == 1)
            #expect(first?["ids"]?["-1"]?.int == 1)
            let outcomes = first?["outcomes"]?.array ?? []
            // The e-mail is equal. `add` has no base, so `on-conflict` decides. Sets are united.
            #expect(
                outcomes.map { $0["outcome"]?.text } == [
                    "already", "client-won", "combined", "already", "client-won", "inserted",
                ])
            #expect(outcomes[2]["written"]?.description == #"["red","blue","new"]"#)
            #expect(try answer.json()["results"]?[1]?["outcomes"]?[0]?["outcome"]?.text == "applied")
            let rows = try await database.run("SELECT COUNT(*), SUM(credit) FROM accounts WHERE email = 'a@x';")
            #expect(rows == "1\t6\n")
            #expect(try await database.run("SELECT pieces FROM account_lines WHERE id = 3;") == "9\n")
        }
    }

    @Test("Hidden rows are missing for clients", arguments: TestEngine.allCases)
    func hiddenRows(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            #expect(try await client.get("/v1/records/accounts/3").status == 404)
            #expect(
                try await client.get("/v1/records/accounts").json()["records"]?.array.compactMap { $0["id"]?.int } == [
                    1, 2,
                ])
            let lines = try await client.get("/v1/records/accounts/1").json()["lines"]
            #expect(lines?.array.compactMap { $0["id"]?.int } == [1])
            let edit = try await Self.merge(client, #"{"credit":{"old":0,"new":1}}"#, id: 3)
            #expect(try edit.json()["outcomes"]?[0]?["outcome"]?.text == "missing")
            for email in ["gone@x", "north@x"] {
                let create = try await Self.merge(
                    client, #"{"old":null,"new":{"email":"\#(email)"}}"#, id: -1)
                #expect(create.status == 422)
                let problem = try create.json()["problem"]
                #expect(problem?["code"]?.text == "unique")
                #expect(problem?["fields"]?.description == #"["email"]"#)
                #expect(problem?["record"] == nil)
            }
            let leave = try await Self.merge(client, #"{"region":{"old":"south","new":"north"}}"#)
            #expect(leave.status == 422)
            #expect(try leave.json()["problem"]?["code"]?.text == "outside-where")
            #expect(try leave.json()["problem"]?["fields"]?.description == #"["region"]"#)
            #expect(try await database.run("SELECT region FROM accounts WHERE id = 1;") == "south\n")
            let arrive = try await Self.merge(
                client, #"{"old":null,"new":{"email":"new@x","region":"north"}}"#, id: -1)
            #expect(arrive.status == 422)
            #expect(try await database.run("SELECT COUNT(*) FROM accounts;") == "4\n")
        }
    }

    @Test("A soft deletion writes instead of deleting", arguments: TestEngine.allCases)
    func softDeletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let item = try await client.post(
                "/v1/merge/accounts",
                #"{"id":1,"changeset":{"lines":[{"id":1,"old":{"sku":"pen","pieces":3},"new":null}]}}"#)
            #expect(try item.json()["outcomes"]?[0]?["outcome"]?.text == "deleted")
            #expect(try item.json()["record"]?["lines"]?.array.isEmpty == true)
            #expect(
                try await database.run("SELECT COUNT(*) FROM account_lines WHERE gone_at IS NULL AND account_id = 1;")
                    == "0\n")
            let root = try await Self.merge(client, #"{"old":{},"new":null}"#, id: 2)
            #expect(root.status == 200, "\(root.text)")
            #expect(try root.json()["record"]?.isNull == true)
            #expect(try root.json()["outcomes"]?.array.count == 1)
            #expect(try await database.run("SELECT deleted FROM accounts WHERE id = 2;") == "1\n")
            #expect(
                try await database.run("SELECT COUNT(*) FROM account_lines WHERE account_id = 2 AND gone_at IS NULL;")
                    == "1\n")
            let again = try await Self.merge(client, #"{"old":{},"new":null}"#, id: 2)
            #expect(try again.json()["outcomes"]?[0]?["outcome"]?.text == "already")
        }
    }

    @Test("Checks test the merged row", arguments: TestEngine.allCases)
    func checks(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            // Each date fits the base, but not the other client's date.
            try await database.run("UPDATE accounts SET ends_on = '2026-01-10' WHERE id = 1;")
            let period = try await Self.merge(client, #"{"from":{"old":"2026-01-01","new":"2026-01-20"}}"#)
            #expect(period.status == 422)
            let problem = try period.json()["problem"]
            #expect(problem?["code"]?.text == "check")
            #expect(problem?["constraint"]?.text == "period-order")
            #expect(problem?["fields"]?.description == #"["from","until"]"#)
            #expect(try await database.run("SELECT starts_on FROM accounts WHERE id = 1;") == "2026-01-01\n")
            // NULL passes.
            let open = try await Self.merge(client, #"{"from":{"old":null,"new":"2026-01-20"}}"#, id: 2)
            #expect(open.status == 200)
            // The database wins, and only the groups of the check's fields go back.
            let credit = try await Self.merge(
                client, #"{"credit":{"old":5,"new":-9},"best":{"old":5,"new":6}}"#)
            #expect(credit.status == 200, "\(credit.text)")
            let outcomes = try credit.json()["outcomes"]?.array ?? []
            #expect(outcomes.map { $0["outcome"]?.text } == ["server-won", "applied"])
            #expect(outcomes[0]["conflict"]?.bool == true)
            #expect(outcomes[0]["old"]?.int == 5)
            #expect(outcomes[0]["new"]?.int == -9)
            #expect(outcomes[0]["written"]?.int == 5)
            #expect(outcomes[0]["rule"]?.text == "accounts.yaml:26")
            #expect(try await database.run("SELECT credit, best FROM accounts WHERE id = 1;") == "5\t6\n")
            // If no value can be restored, the push is refused.
            let created = try await Self.merge(
                client, #"{"old":null,"new":{"email":"c@x","credit":-1}}"#, id: -1)
            #expect(created.status == 422)
            #expect(try created.json()["problem"]?["constraint"]?.text == "credit-floor")
        }
    }

    @Test("Each edit of a push has its checks", arguments: TestEngine.allCases)
    func checksOfEdits(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/push",
                #"""
                {"atomic":"edit","edits":[
                  {"resource":"accounts","id":1,"changeset":{"account":{"from":{"old":"2026-01-01","new":"2027-01-01"}}}},
                  {"resource":"accounts","id":2,"changeset":{"account":{"credit":{"old":0,"new":3}}}}]}
                """#)
            #expect(answer.status == 207, "\(answer.text)")
            #expect(try answer.json()["results"]?.array.map { $0["status"]?.text } == ["failed", "merged"])
            #expect(
                try await database.run("SELECT starts_on, credit FROM accounts WHERE id < 3 ORDER BY id;").contains(
                    "2026-01-01\t5"))
        }
    }

    @Test("A missing row is restored", arguments: TestEngine.allCases)
    func missingRow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("DELETE FROM remarks;")
            let body = #"{"id":1,"changeset":{"remarks":[{"id":1,"remark":{"old":"x","new":"y"}}]}}"#
            let answer = try await client.post("/v1/merge/accounts", body)
            let outcome = try answer.json()["outcomes"]?[0]
            #expect(outcome?["outcome"]?.text == "restored", "\(answer.text)")
            #expect(outcome?["conflict"]?.bool == true)
            #expect(outcome?["current"]?.isNull == true)
            #expect(outcome?["written"]?["remark"]?.text == "y")
            #expect(outcome?["rule"]?.text == "accounts.yaml:39")
            #expect(try await database.run("SELECT id, remark, weight FROM remarks;") == "1\ty\t7\n")
        }
    }

    @Test("A preview reports outcomes and writes nothing", arguments: TestEngine.allCases)
    func preview(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await database.run("UPDATE accounts SET balance = 12 WHERE id = 1;")
            let edit = #"{"balance":{"old":"10.00","new":"15.00"}}"#
            let preview = try await Self.merge(client, edit, preview: true)
            #expect(preview.status == 200)
            #expect(try preview.json()["revision"]?.isNull == true)
            #expect(try await database.run("SELECT balance FROM accounts WHERE id = 1;").hasPrefix("12"))
            let real = try await Self.merge(client, edit)
            #expect(try preview.json()["outcomes"] == real.json()["outcomes"])
            #expect(try preview.json()["record"] == real.json()["record"])
            let bad = try await client.post("/v1/merge/accounts?preview=maybe", #"{"id":1,"changeset":{}}"#)
            #expect(bad.status == 400)
        }
    }

    @Test("A preview has the answer of the real push", arguments: TestEngine.allCases, 0..<6)
    func randomPreviews(_ kind: TestEngine, seed: Int) async throws {
        try await Self.with(kind) { client, database in
            var random = SeededRandom(seed: seed)
            for round in 0..<25 {
                if round % 5 == 0 {
                    try await database.run(
                        "UPDATE accounts SET balance = \(Int.random(in: 0...50, using: &random)), credit = 3, best = \(round) WHERE id < 3;"
                    )
                }
                let body = Self.randomPush(&random)
                let preview = try await client.post("/v1/push?preview=true", body)
                let between = try await client.get("/v1/records/accounts")
                let real = try await client.post("/v1/push", body)
                let note = Comment(rawValue: "seed \(seed): \(body)\n\(preview.text)\n\(real.text)")
                #expect(preview.status == real.status, note)
                let known = try Set(between.json()["records"]?.array.compactMap { $0["id"]?.int } ?? [])
                let came = try real.json()["results"]?.array ?? []
                // Numbers of new rows are used up by a preview, so records with new rows are left out.
                let grown = Set(came.filter { $0["ids"]?.object.isEmpty == false }.map { $0["id"]?.int })
                for (reported, came) in zip(try preview.json()["results"]?.array ?? [], came)
                where known.contains(came["id"]?.int ?? 0) && !grown.contains(came["id"]?.int) {
                    #expect(reported["status"] == came["status"], note)
                    #expect(reported["outcomes"] == came["outcomes"], note)
                    #expect(reported["record"] == came["record"], note)
                }
            }
        }
    }

    /// Edits, creations and deletions of a few accounts and their lines, with bases that are often stale.
    private static func randomPush(_ random: inout SeededRandom) -> String {
        let edits = (0..<Int.random(in: 1...3, using: &random)).map { index in
            let id = Int.random(in: 1...4, using: &random)
            func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
            let changes = [
                #""account":{"balance":{"old":"\#(number(0...20))","new":"\#(number(0...20))"}}"#,
                #""account":{"credit":{"old":\#(number(0...5)),"new":\#(number(-3...5))},"best":{"old":1,"new":\#(number(0...30))}}"#,
                #""account":{"from":{"old":"2026-01-01","new":"2026-0\#(number(1...3))-01"}}"#,
                #""account":{"region":{"old":"south","new":"\#(number(0...9) == 0 ? "north" : "south")"}}"#,
                #""lines":[{"id":\#(number(1...4)),"pieces":{"old":3,"new":\#(number(1...9))}}]"#,
                #""lines":[{"id":-\#(index + 1),"old":null,"new":{"sku":"\#(["pen", "cap"][number(0...1)])","pieces":\#(number(1...9))}}]"#,
                #""lines":[{"id":\#(number(1...4)),"old":{"pieces":\#(number(1...9)),"sku":"pen"},"new":null}]"#,
                #""remarks":[{"id":1,"remark":{"old":"x","new":"y\#(number(0...9))"}}]"#,
                #""account":{"prefs":{"old":{"a":1},"new":{"a":\#(number(0...3))}}}"#,
            ]
            return #"{"resource":"accounts","id":\#(id),"changeset":{\#(changes.randomElement(using: &random) ?? "")}}"#
        }
        let atomic = Bool.random(using: &random) ? "push" : "edit"
        return #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#
    }
}
