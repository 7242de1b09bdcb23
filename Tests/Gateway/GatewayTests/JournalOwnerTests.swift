import Foundation
import MergeService
import Operations
import RecordStore
import SQLiteStore
import Testing
import TestSupport

/// A journal belongs to one database: no other database gets its answers or its history.
@Suite(.timeLimit(.minutes(5))) struct JournalOwnerTests {
    private typealias Said = (status: Int32, output: String, errors: String)
    private static let push = Ledger.Push(label: "p", account: 1, points: 5)

    private static func run(_ database: TestDatabase, _ arguments: [String]) async throws -> Said {
        let folder = try TemporaryFolder(files: Ledger.rules)
        return try await Shell.capture(
            [CommandLineTests.program] + arguments,
            environment: ["FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path])
    }

    /// Two databases with equal tables on one new server.
    ///
    /// The journal has its default name.
    private static func pair(
        _ options: [String] = []
    ) async throws -> (server: PrivateMariaDB, one: TestDatabase, two: TestDatabase) {
        let server = try await PrivateMariaDB(options: options)
        let one = try await Ledger.database(.mariadb, server: server)
        let two = try await Ledger.database(.mariadb, server: server)
        for database in [one, two] { try await server.run("DROP DATABASE \(database.journalName)") }
        return (server, one, two)
    }

    /// Makes the journal of a database as its operator does, for the accounts of some.
    private static func makeJournal(
        _ database: TestDatabase, _ options: [String] = [], for accounts: [TestDatabase]
    ) async throws {
        for account in accounts {
            let made = try await run(
                database.asRoot, ["journal", "init", "--grant-to", account.accountSQL] + options)
            #expect(made.status == 0, "\(made)")
            try await database.runAsOperator(made.output)
        }
    }

    private static func merges(
        _ database: TestDatabase, options: [String] = []
    ) async throws -> (answer: HTTPClient.Answer, entries: Int?) {
        let gateway = try await GatewayProcess(database, rules: Ledger.rules, options: options, namesJournal: false)
        return try await HTTPClient.with(port: gateway.port) { client async throws in
            let answer = try await client.post("/v1/push", push.body())
            return (answer, try await client.get("/v1/journal").json()["entries"]?.array.count)
        }
    }

    @Test("A second database is refused the journal of the first", .tags(.mariadb), .needsMariaDB)
    func secondDatabase() async throws {
        let (server, one, two) = try await Self.pair()
        try await Self.makeJournal(one, for: [one, two])
        let first = try await Self.merges(one)
        #expect(first.answer.status == 200, "\(first.answer.text)")
        let own = "same-server:fieldmerge_" + two.name
        let sentence =
            "the journal “fieldmerge” belongs to the database “\(one.name)”, and this is “\(two.name)”; give it a journal "
            + "of its own with --journal \(own)"
        for command in [
            ["serve", "--listen", "127.0.0.1:0"], ["journal", "list"], ["journal", "show", "1"],
            ["journal", "refused"],
            ["journal", "undo", "1"], ["journal", "replay", "1"], ["journal", "init"],
        ] {
            let refused = try await Self.run(two, command)
            #expect(refused.status == 1 && refused.output.isEmpty, "\(command): \(refused)")
            #expect(refused.errors.contains(sentence), "\(command): \(refused.errors)")
        }
        let checked = try await Self.run(two, ["check"])
        #expect(checked.status == 1 && checked.output.contains("error: " + sentence), "\(checked)")
        #expect(checked.output.contains("\n1 error, "), "\(checked)")
        #expect(try await Self.run(one, ["check"]).status == 0)
        #expect(try await Ledger.Standing(two) == Ledger.Standing(after: []))
        // In another journal the key is unknown, and the first database's history is not visible.
        let options = ["--journal", own]
        try await Self.makeJournal(two, options, for: [two])
        let second = try await Self.merges(two, options: options)
        #expect(second.answer.status == 200, "\(second.answer.text)")
        #expect(second.answer.headers["idempotent-replayed"] == nil)
        #expect(second.entries == first.entries)
        #expect(try await Ledger.Standing(two) == Ledger.Standing(after: [Self.push]))
        #expect(try await Self.run(two, ["check"] + options).status == 0)
        server.kill()
    }

    /// The documented rights are enough.
    @Test("A database that was restored under another name can adopt its journal", .tags(.mariadb), .needsMariaDB)
    func adopted() async throws {
        let (server, one, two) = try await Self.pair()
        try await Self.makeJournal(one, for: [one, two])
        let first = try await Self.merges(one)
        let adopted = try await Self.run(two, ["journal", "adopt"])
        #expect(adopted.status == 0, "\(adopted)")
        #expect(
            adopted.output
                == "the journal “fieldmerge” belonged to the database “\(one.name)”, and belongs to “\(two.name)” now\n"
        )
        let again = try await Self.run(two, ["journal", "adopt"])
        #expect(again.output == "the journal “fieldmerge” belongs to the database “\(two.name)” already\n")
        let second = try await Self.merges(two)
        #expect(second.answer.body == first.answer.body && second.entries == first.entries)
        #expect(second.answer.headers["idempotent-replayed"] == "true")
        let refused = try await Self.run(one, ["serve", "--listen", "127.0.0.1:0"])
        #expect(refused.status == 1 && refused.errors.contains("belongs to the database “\(two.name)”"), "\(refused)")
        for options in [["--journal", "off"], ["--journal", "same-server:nowhere"]] {
            let nothing = try await Self.run(one, ["journal", "adopt"] + options)
            #expect(nothing.status == 1 && nothing.output.isEmpty, "\(nothing)")
        }
        server.kill()
    }

    @Test(
        "A journal without owner belongs to the first database that merges with it, not to a reader", .tags(.mariadb),
        .needsMariaDB)
    func oldJournal() async throws {
        let (server, one, two) = try await Self.pair()
        try await Self.makeJournal(one, for: [one, two])
        try await server.run("DELETE FROM fieldmerge.meta WHERE name = 'database'")
        let listed = try await Self.run(two, ["journal", "list"])
        #expect(listed.status == 0, "\(listed)")
        let checked = try await Self.run(two, ["check"])
        #expect(checked.status == 0, "\(checked)")
        // Many gateways of both start at once.
        let owners = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let database = number.isMultiple(of: 2) ? one : two
                    let engine = try database.engine()
                    var owner: String? = database.name
                    do {
                        _ = try await JournalOpener(engine: engine, schema: "fieldmerge").open()
                    } catch let error as StoreError {
                        #expect(error.message.contains("belongs to the database"), "\(error)")
                        owner = nil
                    }
                    await engine.close()
                    return owner
                }
            }
            return try await group.reduce(into: [String]()) { owners, owner in if let owner { owners.append(owner) } }
        }
        #expect(owners.count == 6 && Set(owners).count == 1, "\(owners)")
        #expect(
            try await server.run("SELECT value FROM fieldmerge.meta WHERE name = 'database'")
                == "mariadb:\(owners[0])\n")
        server.kill()
    }

    /// Names count as the server compares them.
    @Test("Names of databases are compared as the server does", .tags(.mariadb), .needsMariaDB, arguments: [0, 1])
    func theCaseOfNames(_ setting: Int) async throws {
        let (server, one, _) = try await Self.pair(["--lower-case-table-names=\(setting)"])
        let upper = one.name.uppercased()
        try await server.run("CREATE DATABASE IF NOT EXISTS \(upper)")
        try await Self.makeJournal(one, for: [one])
        let other = try one.neighbour(upper)
        let opener = JournalOpener(engine: other, schema: "fieldmerge")
        if setting == 0 {
            await #expect(throws: StoreError.self) { _ = try await opener.open() }
        } else {
            _ = try await opener.open()
        }
        await other.close()
        server.kill()
    }

    /// The owner of a journal file is the schema on the server.
    @Test("A journal file can belong to a database on a server", .tags(.mariadb), .needsMariaDB)
    func fileWithServer() async throws {
        let one = try await Ledger.database(.mariadb)
        let two = try await Ledger.database(.mariadb)
        let options = ["--journal", "sqlite:" + one.journalFile]
        #expect(try await Self.run(one, ["journal", "init"] + options).status == 0)
        for command in [["journal", "list"], ["journal", "init"], ["serve", "--listen", "127.0.0.1:0"]] {
            #expect(try await Self.run(two, command + options).errors.contains("belongs to the database “\(one.name)”"))
        }
        #expect(try await Self.run(two, ["check"] + options).output.contains("belongs to the database “\(one.name)”"))
        #expect(try await Self.run(one, ["check"] + options).status == 0)
        let adopted = try await Self.run(two, ["journal", "adopt"] + options)
        #expect(adopted.output.hasSuffix("belonged to the database “\(one.name)”, and belongs to “\(two.name)” now\n"))
        #expect(try await Self.run(one, ["journal", "list"] + options).status == 1)
    }

    /// In rollback mode the journal file is attached, in WAL mode it is a separate store.
    @Test("Two files have two journals", arguments: ["DELETE", "WAL"])
    func twoFiles(_ mode: String) async throws {
        let one = try await Ledger.database(.sqlite)
        let two = try await Ledger.database(.sqlite)
        for database in [one, two] { try await database.run("PRAGMA journal_mode = \(mode);") }
        let first = try await Self.merges(one)
        #expect(first.answer.status == 200)
        let options = ["--journal", one.journalURL]
        for command in [["serve", "--listen", "127.0.0.1:0"], ["journal", "list"], ["journal", "undo", "1"]] {
            let refused = try await Self.run(two, command + options)
            #expect(refused.status == 1, "\(refused)")
            #expect(
                refused.errors.contains("belongs to the database “\(one.name)”, and this is “\(two.name)”"),
                "\(refused)")
            #expect(refused.errors.contains("the journal “\(one.journalName)”"), "\(refused)")
        }
        let checked = try await Self.run(two, ["check"] + options)
        #expect(checked.status == 1 && checked.output.contains("belongs to the database “\(one.name)”"), "\(checked)")
        #expect(try await Ledger.Standing(two) == Ledger.Standing(after: []))
        // The same file by another path is the same database.
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: one.name)
        let linked = try await Shell.capture(
            [CommandLineTests.program, "journal", "list", "--json"] + options,
            environment: ["FIELDMERGE_DATABASE": "sqlite:\(folder.path)/link"])
        #expect(linked.status == 0, "\(linked)")
    }

    /// A database that was copied, moved or replaced is a different one, until it adopts the journal.
    @Test("A file that was moved is another database")
    func movedFile() async throws {
        let database = try await Ledger.database(.sqlite)
        let first = try await Self.merges(database)
        let moved = database.name + ".moved"
        try await Shell.run(["cp", database.name, moved])
        try await Shell.run(["cp", database.journalName, moved + ".fieldmerge"])
        func journal(_ path: String, _ command: String) async throws -> Said {
            try await Shell.capture(
                [CommandLineTests.program, "journal", command], environment: ["FIELDMERGE_DATABASE": "sqlite:" + path])
        }
        let refused = try await journal(moved, "list")
        #expect(refused.status == 1 && refused.errors.contains("and this is “\(moved)”"), "\(refused)")
        #expect(refused.errors.contains("“fieldmerge journal adopt”"))
        // The copy replaces the file.
        try await Shell.run(["mv", moved, database.name])
        let restored = try await Self.run(database, ["serve", "--listen", "127.0.0.1:0"])
        #expect(restored.status == 1, "\(restored)")
        #expect(restored.errors.contains("belongs to a file that was at “\(database.name)” before"), "\(restored)")
        let adopted = try await journal(database.name, "adopt")
        #expect(adopted.status == 0 && adopted.output.contains("and belongs to the one there now"), "\(adopted)")
        let again = try await Self.merges(database)
        #expect(again.answer.body == first.answer.body && again.answer.headers["idempotent-replayed"] == "true")
        // Compacting a file changes neither its place nor its number.
        try await database.run("VACUUM;")
        #expect(try await journal(database.name, "list").status == 0)
    }
}
