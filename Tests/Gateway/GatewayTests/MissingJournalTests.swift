import Foundation
import Testing
import TestSupport

/// A journal that is missing is never replaced silently.
@Suite(.timeLimit(.minutes(3))) struct MissingJournalTests {
    private typealias Said = (status: Int32, output: String, errors: String)

    private static func run(_ database: TestDatabase, _ arguments: [String]) async throws -> Said {
        let folder = try TemporaryFolder(files: JournalTests.rules)
        return try await Shell.capture(
            ["timeout", "20", CommandLineTests.program] + arguments,
            environment: ["FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path])
    }

    /// - Parameter place: the value of `--journal`; nil to omit it.
    private static func expectRefusal(_ database: TestDatabase, _ place: String?) async throws {
        let options = place.map { ["--journal", $0] } ?? []
        for command in [
            ["serve", "--listen", "127.0.0.1:0"], ["check"], ["journal", "list"], ["journal", "new-feed"],
        ] {
            let refused = try await run(database, command + options)
            #expect(refused.status == 1, "\(command) \(refused)")
            let said = refused.output + refused.errors
            #expect(said.contains("“fieldmerge journal init” makes the journal"), "\(command) \(refused)")
            #expect(said.contains("--journal off"), "\(command) \(refused)")
        }
    }

    @Test("Without its schema nothing is served", .tags(.mariadb), .needsMariaDB)
    func missingSchema() async throws {
        let database = try await JournalTests.database(.mariadb)
        try await Self.expectRefusal(database, nil)
        try await Self.expectRefusal(database, database.journalURL)
        // Also by a user who may make it.
        let server = try await PrivateMariaDB()
        let root = try await JournalTests.database(.mariadb, server: server).asRoot
        try await Self.expectRefusal(root, nil)
        try await Self.expectRefusal(root, "same-server:lost")
        #expect(try await server.run("SHOW DATABASES LIKE 'fieldmerge%'").isEmpty)
        #expect(try await server.run("SHOW DATABASES LIKE 'lost'").isEmpty)
        // The schema exists without its tables.
        try await server.run("CREATE DATABASE lost")
        try await Self.expectRefusal(root, "same-server:lost")
        #expect(try await server.run("SHOW TABLES", in: "lost").isEmpty)
        #expect(try await Self.run(root, ["journal", "init", "--journal", "same-server:lost"]).status == 0)
        let checked = try await Self.run(root, ["check", "--journal", "same-server:lost"])
        #expect(checked.status == 0, "\(checked)")
        server.kill()
    }

    @Test("A gateway without a journal serves only with --journal off, and warns", arguments: TestEngine.allCases)
    func off(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        let gateway = try await GatewayProcess(
            database, rules: JournalTests.rules, options: ["--journal", "off"], namesJournal: false)
        #expect(gateway.log.contains("warning") && gateway.log.contains("the journal is off"), "\(gateway.log)")
        try await HTTPClient.with(port: gateway.port) { client async throws in
            #expect(try await client.get("/readyz").status == 200)
        }
        #expect(try await Self.run(database, ["check", "--journal", "off"]).status == 0)
    }

    @Test("The default for SQLite is a file next to the database")
    func fileByDefault() async throws {
        let database = try await JournalTests.database(.sqlite)
        let checked = try await Self.run(database, ["check"])
        #expect(checked.status == 0, "\(checked)")
        #expect(!FileManager.default.fileExists(atPath: database.journalName))
        let gateway = try await GatewayProcess(database, rules: JournalTests.rules, namesJournal: false)
        #expect(gateway.isRunning && FileManager.default.fileExists(atPath: database.journalName))
    }

    @Test("check names a journal that serve would refuse", arguments: TestEngine.allCases)
    func check(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await database.initJournal()
        let options = ["--journal", database.journalURL]
        #expect(try await Self.run(database.asRoot, ["journal", "init"] + options).status == 0)
        #expect(try await Self.run(database, ["check"] + options).status == 0)
        for (sql, sentence) in [
            ("UPDATE meta SET value = '99' WHERE name = 'version';", "newer version of FieldMerge"),
            ("UPDATE meta SET value = '5' WHERE name = 'version'; DROP TABLE pending;", "pending"),
            ("DELETE FROM meta WHERE name = 'secret';", "has lost its secret"),
        ] {
            try await database.runOnJournal(sql)
            let checked = try await Self.run(database, ["check"] + options)
            #expect(checked.status == 1 && checked.output.contains(sentence), "\(checked)")
        }
    }

    @Test("check names a right that is missing on the journal", .tags(.mariadb), .needsMariaDB)
    func checkRights() async throws {
        let database = try await JournalTests.database(.mariadb)
        try await database.initJournal()
        let options = ["--journal", database.journalURL]
        #expect(try await Self.run(database, ["check"] + options).status == 0)
        let journal = "`\(database.journalName.replacing("_", with: "\\_"))`.*"
        try await database.runAsOperator("REVOKE INSERT ON \(journal) FROM \(database.accountSQL)")
        let checked = try await Self.run(database, ["check"] + options)
        #expect(checked.status == 1 && checked.output.contains("lacks a right"), "\(checked)")
    }
}
