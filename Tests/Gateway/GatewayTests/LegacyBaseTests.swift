import Testing
import TestSupport

/// A base that the gateway has sent is never refused, also if the row has changed or was deleted since.
@Suite(.timeLimit(.minutes(3))) struct LegacyBaseTests {
    private static func sql(_ kind: TestEngine) -> String {
        let (word, kinds) =
            kind == .mariadb ? ("7", "ENUM('a', 'b')") : ("'abc'", "VARCHAR(2)")
        return """
            CREATE TABLE pots (id INTEGER PRIMARY KEY, flag TINYINT, n INT, kind \(kinds), glaze VARCHAR(10));
            \(kind == .mariadb ? "SET sql_mode = '';" : "")
            INSERT INTO pots VALUES (1, -1, \(word), '', 'a'), (2, 1, 5, 'b', 'a');

            """
    }

    private static func rules(_ missing: String) -> [String: String] {
        [
            "pots.yaml": """
            resource: pots
            sections:
              pot:
                table: pots
                on-missing: \(missing)
                groups:
                  look: {fields: {flag: {column: flag, type: boolean}, n: n, kind: kind, glaze: glaze}}
            """
        ]
    }

    private static func look(_ kind: TestEngine, _ glaze: String, flag: String = "-1") -> String {
        let n = kind == .mariadb ? "7" : #""abc""#
        return #"{"flag":\#(flag),"n":\#(n),"kind":"","glaze":"\#(glaze)"}"#
    }

    private static func edit(_ id: Int, _ old: String, _ new: String) -> String {
        #"{"id":\#(id),"changeset":{"pot":{"look":{"old":\#(old),"new":\#(new)}}}}"#
    }

    private static func with(
        _ kind: TestEngine, missing: String = "drop",
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql(.mariadb), sqlite: sql(.sqlite))
        try await RunningGateway.with(database, rules: rules(missing), journal: .together) { gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    @Test("Legacy values are sent, echoed and kept", arguments: TestEngine.allCases)
    func unchangedRow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let answer = try await client.post(
                "/v1/merge/pots", Self.edit(1, Self.look(kind, "a"), Self.look(kind, "b")))
            #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(answer.text)")
            let held = try await database.run("SELECT flag, n, kind, glaze FROM pots WHERE id = 1;")
            #expect(held == (kind == .mariadb ? "-1\t7\t\tb\n" : "-1\tabc\t\tb\n"))
        }
    }

    @Test("The base of a row that has changed is a conflict", arguments: TestEngine.allCases)
    func changedRow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            let edit = Self.edit(2, Self.look(kind, "a"), Self.look(kind, "b"))
            let answer = try await client.post("/v1/merge/pots", edit)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "client-won", "\(answer.text)")
            let held = try await database.run("SELECT flag, n, kind, glaze FROM pots WHERE id = 2;")
            // MariaDB's 7 and SQLite's empty text are valid values. The other two are never written.
            #expect(held == (kind == .mariadb ? "1\t7\tb\tb\n" : "1\t5\t\tb\n"))
        }
    }

    @Test("The base of a deleted row is missing", arguments: TestEngine.allCases)
    func goneRow(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            let edit = Self.edit(9, Self.look(kind, "a"), Self.look(kind, "b"))
            let answer = try await client.post("/v1/merge/pots", edit)
            #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "missing", "\(answer.text)")
        }
    }

    @Test("A row that is restored has no value that is never written", arguments: TestEngine.allCases)
    func restoredRow(_ kind: TestEngine) async throws {
        try await Self.with(kind, missing: "restore") { client, database in
            let edit = Self.edit(9, Self.look(kind, "a"), Self.look(kind, "b"))
            let answer = try await client.post("/v1/merge/pots", edit)
            #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "restored", "\(answer.text)")
            let held = try await database.run("SELECT flag IS NULL, glaze FROM pots WHERE id = 9;")
            #expect(held == "1\tb\n")
        }
    }

    @Test("The base of a deletion is a conflict", arguments: TestEngine.allCases)
    func deletion(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            let old = Self.look(kind, "a")
            let deletion = #"{"id":2,"changeset":{"pot":{"old":\#(old),"new":null}}}"#
            let answer = try await client.post("/v1/merge/pots", deletion)
            #expect(answer.status == 200 && answer.text.contains(#""conflict":true"#), "\(answer.text)")
        }
    }

    @Test("An edited value that the column cannot store is 400", arguments: TestEngine.allCases, [1, 2, 9])
    func edits(_ kind: TestEngine, _ id: Int) async throws {
        try await Self.with(kind) { client, _ in
            let edit = Self.edit(id, Self.look(kind, "a"), Self.look(kind, "b", flag: "-2"))
            let answer = try await client.post("/v1/merge/pots", edit)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(try answer.json()["path"]?.text == "changeset.pot.look.new.flag", "\(answer.text)")
        }
    }

    private static func repaired(
        _ kind: TestEngine,
        _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let table = """
            CREATE TABLE p (id INTEGER PRIMARY KEY, t VARCHAR(20), bo TINYINT(1), day VARCHAR(10));
            INSERT INTO p VALUES (1, 't', 2, '');
            """
        let rules = [
            "p.yaml": """
            resource: p
            sections:
              p: {table: p, groups: {t: t, bo: {column: bo, type: boolean}\(kind == .sqlite ? day : "")}}
            """
        ]
        let database = try await TestDatabase(kind, mariadb: table, sqlite: table)
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let read = try await client.get("/v1/records/p/1")
                #expect(read.text.contains(#""bo":2"#), "\(read.text)")
                let repair = try await client.post(
                    "/v1/merge/p", #"{"id":1,"changeset":{"p":{"bo":{"old":2,"new":true}}}}"#)
                #expect(repair.status == 200, "\(repair.text)")
                try await body(client, database)
            }
        }
    }

    private static let day = ", day: {column: day, type: date}"

    @Test("An echo is unchanged after another client has repaired the value", arguments: TestEngine.allCases)
    func repairedEcho(_ kind: TestEngine) async throws {
        try await Self.repaired(kind) { client, database in
            let answer = try await client.post(
                "/v1/merge/p",
                #"{"id":1,"changeset":{"p":{"old":{"t":"t","bo":2},"new":{"t":"edited offline","bo":2}}}}"#)
            #expect(answer.status == 200, "\(answer.text)")
            let outcomes = try answer.json()["outcomes"]
            #expect(outcomes?.array.count == 1 && outcomes?[0]?["group"]?.text == "t", "\(answer.text)")
            #expect(try await database.run("SELECT t, bo FROM p;") == "edited offline\t1\n")
        }
    }

    @Test("The base of a repaired value is a conflict", arguments: TestEngine.allCases)
    func repairedBase(_ kind: TestEngine) async throws {
        try await Self.repaired(kind) { client, database in
            let answer = try await client.post(
                "/v1/merge/p", #"{"id":1,"changeset":{"p":{"bo":{"old":2,"new":false}}}}"#)
            let outcome = try answer.json()["outcomes"]?[0]?.description ?? ""
            #expect(
                answer.status == 200
                    && outcome.contains(#""conflict":true,"current":true,"group":"bo","new":false,"old":2"#),
                "\(answer.text)")
            #expect(try await database.run("SELECT bo FROM p;") == "0\n")
        }
    }

    @Test("A deletion with the base of a repaired value is a conflict", arguments: TestEngine.allCases)
    func repairedDeletion(_ kind: TestEngine) async throws {
        try await Self.repaired(kind) { client, _ in
            let answer = try await client.post(
                "/v1/merge/p", #"{"id":1,"changeset":{"p":{"old":{"t":"t","bo":2},"new":null}}}"#)
            #expect(answer.status == 200 && answer.text.contains(#""conflict":true"#), "\(answer.text)")
        }
    }

    @Test("A base that the gateway cannot have sent is 400", arguments: TestEngine.allCases)
    func impossibleBase(_ kind: TestEngine) async throws {
        try await Self.repaired(kind) { client, _ in
            let bases = kind == .mariadb ? [#""abc""#, "1.5", "300", #""1""#, "[]"] : ["[]", "{}"]
            for base in bases {
                let answer = try await client.post(
                    "/v1/merge/p", #"{"id":1,"changeset":{"p":{"bo":{"old":\#(base),"new":false}}}}"#)
                #expect(answer.status == 400, "\(base) \(answer.text)")
            }
        }
    }

    @Test(
        "A text that is no date is an echo, and a base if the row contains it",
        .enabled(if: TestEngine.allCases.contains(.sqlite)))
    func textOfDate() async throws {
        try await Self.repaired(.sqlite) { client, database in
            let echo = try await client.post(
                "/v1/merge/p",
                #"{"id":1,"changeset":{"p":{"old":{"t":"t","day":"nope"},"new":{"t":"u","day":"nope"}}}}"#)
            #expect(echo.status == 200, "\(echo.text)")
            let edit = #"{"id":1,"changeset":{"p":{"day":{"old":"nope","new":"2026-02-28"}}}}"#
            let strange = try await client.post("/v1/merge/p", edit)
            #expect(strange.status == 400, "\(strange.text)")
            #expect(try strange.json()["path"]?.text == "changeset.p.day.old")
            try await database.run("UPDATE p SET day = 'nope';")
            let held = try await client.post("/v1/merge/p", edit)
            #expect(held.status == 200, "\(held.text)")
            #expect(try await database.run("SELECT t, day FROM p;") == "u\t2026-02-28\n")
        }
    }
}
