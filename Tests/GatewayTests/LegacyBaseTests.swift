import Testing
import TestSupport

/// A base that the gateway has sent is never refused, also if the row has changed since or is gone.
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

    private static func hashed(_ id: Int, _ old: String, _ new: String) async throws -> String {
        // Canonical JSON has its members in order.
        let members = old.dropFirst().dropLast().split(separator: ",").sorted().joined(separator: ",")
        let digest = try await Shell.run(["sha256sum"], input: "{" + members + "}").prefix(64)
        return #"{"id":\#(id),"changeset":{"pot":{"look":{"oldHash":"sha256:\#(digest)","new":\#(new)}}}}"#
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

    @Test("The base of a row that has changed is a conflict", arguments: TestEngine.allCases, [false, true])
    func changedRow(_ kind: TestEngine, _ isHashed: Bool) async throws {
        try await Self.with(kind) { client, database in
            let (old, new) = (Self.look(kind, "a"), Self.look(kind, "b"))
            let edit = isHashed ? try await Self.hashed(2, old, new) : Self.edit(2, old, new)
            let answer = try await client.post("/v1/merge/pots", edit)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "client-won", "\(answer.text)")
            let held = try await database.run("SELECT flag, n, kind, glaze FROM pots WHERE id = 2;")
            // MariaDB's 7 is a number like others. SQLite's empty text is one too. The others are never written.
            #expect(held == (kind == .mariadb ? "1\t7\tb\tb\n" : "1\t5\t\tb\n"))
        }
    }

    @Test("The base of a row that is gone is missing", arguments: TestEngine.allCases, [false, true])
    func goneRow(_ kind: TestEngine, _ isHashed: Bool) async throws {
        try await Self.with(kind) { client, _ in
            let (old, new) = (Self.look(kind, "a"), Self.look(kind, "b"))
            let edit = isHashed ? try await Self.hashed(9, old, new) : Self.edit(9, old, new)
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
}
