@testable import Gateway
import MergeCore
import MergeService
import MergeWire
import RecordStore
import SQLiteStore
import Testing
import TestSupport

/// A write-ahead journal after a crash between its commit and the merge's commit: the rows show which of them took place.
@Suite struct WriteAheadJournalTests {
    private static let table = """
        CREATE TABLE pots (id INTEGER PRIMARY KEY, a VARCHAR(10), n INT);
        INSERT INTO pots VALUES (1, 'old', 10), (2, 'x', 1);
        """
    private static let rules = [
        "pots.yaml":
            "resource: pots\nsections:\n  pot: {table: pots, client-keys: allow, groups: {a: a, n: {column: n, merge: add}}}\n"
    ]
    private static let body =
        #"{"key":"k","edits":[{"resource":"pots","id":1,"changeset":{"pot":{"a":{"old":"old","new":"new"},"n":{"old":10,"new":15}}}},{"resource":"pots","id":3,"changeset":{"pot":{"old":null,"new":{"a":"c","n":1}}}}]}"#

    /// Marks the newest rows of the journal as pending, as a gateway leaves them that dies before the merge's commit.
    private static func leaveOpen(_ database: TestDatabase) async throws {
        try await Shell.run(
            ["sqlite3", "-bail", database.journalFile],
            input: """
                .timeout 5000
                INSERT INTO meta (name, value) SELECT 'pending:t', MIN(n) || '-' || MAX(n) FROM entries;
                """)
    }

    enum Crash: CaseIterable, Sendable {
        case beforeTheCommit
        case afterTheCommit
        case afterTheCommitAndOthersWentOn
    }

    @Test("The rows decide whether a crashed transaction was committed", arguments: TestEngine.allCases, Crash.allCases)
    func crash(_ kind: TestEngine, _ crash: Crash) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.table.replacing("n INT)", with: "n INT) ENGINE=InnoDB"), sqlite: Self.table)
        if kind == .sqlite { try await database.run("PRAGMA journal_mode = WAL;") }
        let first = try await RunningGateway.with(database, rules: Self.rules, journal: .ahead) {
            gateway async throws in
            let answer = try await gateway.client { try await $0.post("/v1/push", Self.body) }
            #expect(answer.status == 200, "\(answer.text)")
            return answer.body
        }
        try await Self.leaveOpen(database)
        switch crash {
        case .beforeTheCommit:
            try await database.run("UPDATE pots SET a = 'old', n = 10 WHERE id = 1; DELETE FROM pots WHERE id = 3;")
        case .afterTheCommit: break
        case .afterTheCommitAndOthersWentOn: try await database.run("UPDATE pots SET a = 'z', n = 99;")
        }
        try await RunningGateway.with(database, rules: Self.rules, journal: .ahead) { gateway async throws in
            try await gateway.client { client in
                let entries = try await client.get("/v1/journal").json()["entries"]?.array.count
                #expect(entries == (crash == .beforeTheCommit ? 0 : 2))
                let again = try await client.post("/v1/push", Self.body)
                #expect(again.status == 200)
                #expect((again.headers["idempotent-replayed"] == "true") == (crash != .beforeTheCommit))
                #expect((again.body == first) == (crash != .beforeTheCommit) || crash == .beforeTheCommit)
            }
        }
        let sum = try await database.run("SELECT n FROM pots WHERE id = 1;")
        #expect(sum == (crash == .afterTheCommitAndOthersWentOn ? "99\n" : "15\n"))
        let pending = try await Shell.run(
            ["sqlite3", database.journalFile], input: "SELECT COUNT(*) FROM meta WHERE name LIKE 'pending:%';")
        #expect(pending == "0\n")
    }

    /// A push with evidence in one row only, and the SQL that reverts its effect.
    struct SingleRowPush: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let changeset: String
        let inverse: String
    }

    private static let singleRowPushes = [
        SingleRowPush(
            testDescription: "singleton", changeset: #""lid":{"n":{"old":1,"new":4}}"#,
            inverse: "UPDATE lids SET n = 1;"),
        SingleRowPush(
            testDescription: "private field", changeset: #""jar":{"a":{"old":"old","new":"new"}}"#,
            inverse: "UPDATE jars SET a = 'old';"),
        SingleRowPush(
            testDescription: "soft deletion", changeset: #""jar":{"old":{"a":"old","n":1},"new":null}"#,
            inverse: "UPDATE jars SET gone = 0;"),
        SingleRowPush(
            testDescription: "several edits",
            changeset:
                #""jar":{"n":{"old":1,"new":3}}}},{"resource":"jars","id":1,"changeset":{"jar":{"n":{"old":3,"new":1}}}},{"resource":"jars","id":1,"changeset":{"lid":{"n":{"old":1,"new":2}}"#,
            inverse: "UPDATE jars SET n = 1; UPDATE lids SET n = 1;"),
        SingleRowPush(
            testDescription: "two resources there and back",
            changeset:
                #""jar":{"n":{"old":1,"new":3}}}},{"resource":"cans","id":1,"changeset":{"can":{"n":{"old":3,"new":1}}}},{"resource":"jars","id":1,"changeset":{"lid":{"n":{"old":1,"new":2}}"#,
            inverse: "UPDATE lids SET n = 1;"),
    ]

    @Test("Recovery finds evidence in rows of every kind", arguments: TestEngine.allCases, singleRowPushes)
    func oneRowIsEnough(_ kind: TestEngine, _ sample: SingleRowPush) async throws {
        let sql = """
            CREATE TABLE jars (id INTEGER PRIMARY KEY, a VARCHAR(10), n INT, gone INT NOT NULL DEFAULT 0);
            CREATE TABLE lids (jar INTEGER PRIMARY KEY, n INT);
            INSERT INTO jars (id, a, n) VALUES (1, 'old', 1);
            INSERT INTO lids VALUES (1, 1);
            """
        let rules = [
            "jars.yaml": """
            resource: jars
            sections:
              jar:
                table: jars
                where: gone = 0
                delete: {set: {gone: 1}}
                groups: {a: {column: a, private: true}, n: {column: n, merge: add}}
              lid: {table: lids, parent: jar, groups: {n: {column: n, merge: add}}}
            """,
            "cans.yaml": """
            resource: cans
            sections:
              can: {table: jars, groups: {n: {column: n, merge: add}}}
            """,
        ]
        let body =
            #"{"key":"k","edits":[{"resource":"jars","id":1,"changeset":{"# + sample.changeset + "}}]}"
        for isCommitted in [true, false] {
            let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
            if kind == .sqlite { try await database.run("PRAGMA journal_mode = WAL;") }
            try await RunningGateway.with(database, rules: rules, journal: .ahead) { gateway async throws in
                let answer = try await gateway.client { try await $0.post("/v1/push", body) }
                try #require(answer.status == 200, "\(answer.text)")
            }
            try await Self.leaveOpen(database)
            if !isCommitted { try await database.run(sample.inverse) }
            try await RunningGateway.with(database, rules: rules, journal: .ahead) { gateway async throws in
                let again = try await gateway.client { try await $0.post("/v1/push", body) }
                #expect(again.status == 200, "\(again.text)")
                #expect((again.headers["idempotent-replayed"] == "true") == isCommitted)
            }
        }
    }

    /// For example a command that was killed.
    @Test("An in-doubt transaction of another process is decided before the next push", arguments: TestEngine.allCases)
    func otherProcess(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.table, sqlite: Self.table)
        if kind == .sqlite { try await database.run("PRAGMA journal_mode = WAL;") }
        try await RunningGateway.with(database, rules: Self.rules, journal: .ahead) { gateway async throws in
            try await gateway.client { client async throws in
                try #require(try await client.post("/v1/push", Self.body).status == 200)
                try await Self.leaveOpen(database)
                try await database.run("UPDATE pots SET a = 'old', n = 10 WHERE id = 1; DELETE FROM pots WHERE id = 3;")
                let other =
                    #"{"key":"o","edits":[{"resource":"pots","id":1,"changeset":{"pot":{"n":{"old":10,"new":15}}}}]}"#
                #expect(try await client.post("/v1/push", other).status == 200)
                let again = try await client.post("/v1/push", Self.body)
                #expect(again.status == 200, "\(again.text)")
                #expect(again.headers["idempotent-replayed"] == nil)
            }
        }
        #expect(try await database.run("SELECT n FROM pots WHERE id = 1;") == "20\n")
    }

    @Test("The mode of a SQLite file decides where the journal is")
    func fileMode() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.table)
        #expect(try !SQLiteEngine.usesWAL(path: database.name))
        try await database.run("PRAGMA journal_mode = WAL;")
        #expect(try SQLiteEngine.usesWAL(path: database.name))
    }
}
