import RecordStore
import Testing
import TestSupport

@testable import Gateway
@testable import MariaDBStore

/// Gateways that find foreign changes in the binary log.
enum BinlogFixture {
    static let shared = Task { try await PrivateMariaDB(options: PrivateMariaDB.logOptions) }

    static func database(_ sql: String, server: PrivateMariaDB? = nil) async throws -> TestDatabase {
        let shared = if let server { server } else { try await shared.value }
        let database = try await TestDatabase(.mariadb, mariadb: sql, sqlite: "", server: shared)
        try await database.runAsOperator("GRANT REPLICATION SLAVE ON *.* TO \(database.accountSQL)")
        return database
    }

    /// Runs a gateway that has read all rows once and follows the log.
    static func run(
        on database: TestDatabase, rules: [String: String] = FeedFixture.rules, log: RowLogUse = .expected,
        stage: Stage? = nil,
        _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session) async throws -> Void
    ) async throws {
        try await RunningGateway.with(
            database, rules: rules, journal: .together, stage: stage,
            configure: { ScanFixture.configure(&$0, log: log) },
            { gateway async throws in
                try await gateway.client { client async throws in
                    try await client.followsLog()
                    try await body(gateway, client)
                }
            })
    }

    static func with(
        _ body: @escaping @Sendable (TestDatabase, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await database(FeedFixture.sql(.mariadb))
        try await run(on: database) { _, client async throws in try await body(database, client) }
    }
}

extension HTTPClient.Session {
    func followsLog() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let feed = try await get("/readyz").json()["feed"]
            if feed?["source"]?.text == "binlog", feed?["lagSeconds"]?.int != nil { return }
            guard ContinuousClock.now < end else {
                throw Shell.Failure(description: "no log: \(String(describing: feed))")
            }
        }
    }

    /// The records that the log has reported, and other records that only scans have found.
    func found() async throws -> (logged: Int, scanned: Int, onlyScanned: Int) {
        (
            try await metric("fieldmerge_binlog_changes_total"), try await metric("fieldmerge_scan_changes_total"),
            try await metric("fieldmerge_foreign_found_by_scan_only")
        )
    }
}

/// The binary log reports changes of other programs, and the scan finds changes that the log does not contain.
@Suite(.timeLimit(.minutes(5))) struct BinlogTests {
    @Test("Each change of a row is reported", .tags(.mariadb), .needsMariaDB, arguments: ["FULL", "NOBLOB", "MINIMAL"])
    func changes(_ image: String) async throws {
        try await BinlogFixture.with { database, client async throws in
            var position = try await client.position()
            func reported(_ sql: String, _ names: Set<String>) async throws -> [JSON] {
                try await database.run("SET SESSION binlog_row_image = '\(image)'; " + sql)
                let found = try await client.changes(after: position, until: names)
                position = found.position
                #expect(Set(found.changes.map(\.name)) == names, "\(sql)")
                #expect(found.changes.allSatisfy { $0["by"]?.isNull == true })
                return found.changes
            }
            _ = try await reported("UPDATE homes SET name = 'z' WHERE id = 1;", ["homes/1"])
            _ = try await reported("INSERT INTO homes (id, name) VALUES (9, 'n');", ["homes/9"])
            let moved = try await reported(
                "UPDATE things SET home = 2 WHERE id = 1;", ["things/1", "homes/1", "homes/2"])
            #expect(moved.first { $0.name == "homes/2" }?["record"]?["things"]?.array.count == 2)
            _ = try await reported("UPDATE things SET id = 11 WHERE id = 2;", ["things/2", "things/11", "homes/1"])
            let hidden = try await reported("UPDATE homes SET hidden = 1 WHERE id = 9;", ["homes/9"])
            #expect(hidden.first?["record"]?.isNull == true)
            _ = try await reported("DELETE FROM things WHERE id = 11;", ["things/11", "homes/1"])
            let found = try await client.found()
            #expect(found.logged > 0 && found.onlyScanned == 0)
            let ready = try await client.get("/readyz").text
            if image == "FULL" { #expect(found.scanned == 0, "\(ready)") }
        }
    }

    @Test("A push is reported once", .tags(.mariadb), .needsMariaDB)
    func pushes() async throws {
        try await BinlogFixture.with { database, client async throws in
            let position = try await client.position()
            for number in 0..<5 {
                _ = try await client.push(FeedFixture.edit("things", 1, "home", "9", "\(number % 3 + 1)"))
                _ = try await client.push(
                    #"{"resource":"rooms","id":-1,"changeset":{"room":{"old":null,"new":{"name":"n"}}}}"#)
            }
            let before = try await client.position()
            try await database.run("UPDATE doors SET name = 'last' WHERE id = 2;")
            _ = try await client.changes(after: before, until: ["doors/2"])
            let all = try await client.changes(after: position)["changes"]?.array ?? []
            #expect(all.filter { $0["by"]?.isNull == true }.map(\.name) == ["doors/2"])
            #expect(try await client.found().scanned == 0)
        }
    }

    @Test(
        "Statements in the log, and changes that it does not contain, cause a pass", .tags(.mariadb), .needsMariaDB,
        arguments: [
            ("DELETE FROM homes WHERE id = 3;", ["homes/3", "rooms/1", "rooms/2"]),
            ("DELETE FROM rooms WHERE id = 3;", ["rooms/3"]),
            ("SET SESSION binlog_format = 'STATEMENT'; UPDATE doors SET name = 's';", ["doors/1", "doors/2"]),
            ("TRUNCATE TABLE doors;", ["doors/1", "doors/2"]),
            ("ALTER TABLE doors ADD COLUMN first INT FIRST; UPDATE doors SET name = 'd';", ["doors/1", "doors/2"]),
            ("RENAME TABLE doors TO d; UPDATE d SET name = 'r' WHERE id = 1; RENAME TABLE d TO doors;", ["doors/1"]),
            (
                """
                CREATE TABLE d LIKE doors; INSERT INTO d SELECT id, room, 'restored' FROM doors; DROP TABLE doors;
                RENAME TABLE d TO doors;
                """, ["doors/1", "doors/2"]
            ),
            ("XA START 'a'; UPDATE doors SET name = 'x'; XA END 'a'; XA PREPARE 'a'; XA COMMIT 'a';", ["doors/1"]),
            (
                "BEGIN; UPDATE doors SET name = 'y'; SAVEPOINT s; UPDATE rooms SET name = 'n'; ROLLBACK TO s; COMMIT;",
                ["doors/1", "doors/2"]
            ),
        ])
    func unloggedChanges(_ sql: String, _ names: [String]) async throws {
        try await BinlogFixture.with { database, client async throws in
            let position = try await client.position()
            try await database.run(sql)
            let found = try await client.changes(after: position, until: Set(names)).changes.map(\.name)
            #expect(Set(names).isSubset(of: found))
            #expect(try await client.found().onlyScanned == 0)
        }
    }

    /// Changes and the position are stored together, so a change that cannot be recorded is recorded later.
    @Test("Changes and position are stored together", .tags(.mariadb), .needsMariaDB)
    func position() async throws {
        try await BinlogFixture.with { database, client async throws in
            let position = try await client.position()
            try await database.runOnJournal(
                "CREATE TRIGGER full BEFORE INSERT ON pending FOR EACH ROW SIGNAL SQLSTATE '45000';")
            try await database.run(
                "UPDATE doors SET name = 'kept' WHERE id = 1; UPDATE doors SET name = 'front' WHERE id = 1;")
            let end = ContinuousClock.now + .seconds(60)
            while try await client.get("/readyz").json()["feed"]?["binlogFault"] == nil {
                try #require(.now < end)
            }
            try await database.runOnJournal("DROP TRIGGER full;")
            let found = try await client.changes(after: position, until: ["doors/1"]).changes
            #expect(found.map(\.name) == ["doors/1"])
        }
    }

    /// A record that leaves the rows of a client is reported to it.
    @Test(.tags(.mariadb), .needsMariaDB) func departuresAreReported() async throws {
        let database = try await BinlogFixture.database(Rounds.mariadb)
        try await database.run(Rounds.rows)
        try await RunningGateway.with(
            database, rules: Rounds.rules, tokens: Rounds.tokens, journal: .together,
            configure: { ScanFixture.configure(&$0, log: .expected) },
            { gateway async throws in
                try await gateway.client { try await $0.followsLog() }
                let ann = try await AccessFeedTests.Follower(Rounds.ann, gateway)
                let bob = try await AccessFeedTests.Follower(Rounds.bob, gateway)
                try await database.run("UPDATE stops SET area = 3 WHERE id = 1;")
                #expect(try await ann.poll(waiting: 20) == [-1])
                #expect(try await bob.poll(waiting: 20) == [1])
                try await database.run(
                    "UPDATE stops SET area = 1 WHERE id = 1; UPDATE stops SET area = 2 WHERE id = 1;")
                #expect(try await bob.poll(waiting: 20) == [-1])
            })
    }

    /// An altered table is read in its new form, of which later changes come from the log again.
    @Test("Columns may change their positions", .tags(.mariadb), .needsMariaDB)
    func movedColumns() async throws {
        try await BinlogFixture.with { database, client async throws in
            for (number, sql) in [
                "ALTER TABLE things MODIFY COLUMN home INTEGER FIRST;",
                "ALTER TABLE things ADD COLUMN more VARCHAR(300) DEFAULT 'q' AFTER home;",
                "ALTER TABLE things DROP COLUMN more; ALTER TABLE things MODIFY COLUMN id INT FIRST;",
            ].enumerated() {
                try await database.run(sql)
                for id in 1...4 {
                    let position = try await client.position()
                    try await database.run("UPDATE things SET name = 'n\(number)' WHERE id = \(id);")
                    let found = try await client.changes(after: position, until: ["things/\(id)"])
                    #expect(!found.changes.map(\.name).contains("things/\(id % 4 + 1)"))
                }
            }
            #expect(try await client.found().onlyScanned == 0)
        }
    }

    @Test("After a restart the gateway continues at the stored position", .tags(.mariadb), .needsMariaDB)
    func restart() async throws {
        let server = try await PrivateMariaDB(options: PrivateMariaDB.logOptions)
        let database = try await BinlogFixture.database(FeedFixture.sql(.mariadb), server: server)
        let kept = Kept<(feed: String, revision: Int)>()
        try await BinlogFixture.run(on: database) { _, client async throws in
            let first = try await client.position()
            try await database.run("UPDATE doors SET name = 'a' WHERE id = 1;")
            await kept.keep(try await client.changes(after: first, until: ["doors/1"]).position)
        }
        for isPurged in [false, true] {
            try await database.run(
                "UPDATE doors SET name = 'b' WHERE id = 2; UPDATE things SET name = 'b' WHERE id = 4;")
            if isPurged {
                // The server does not purge a file that a thread still sends.
                let readers = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Binlog Dump'"
                while try await server.run(readers) != "0\n" { try await server.run("FLUSH BINARY LOGS") }
                try await server.run("FLUSH BINARY LOGS")
                let logs = try await server.run("SHOW BINARY LOGS").split(separator: "\n")
                let last = try #require(logs.last?.split(separator: "\t").first)
                try await server.run("PURGE BINARY LOGS TO '\(last)'")
            }
            let position = try #require(await kept.value)
            try await BinlogFixture.run(on: database) { _, client async throws in
                let found = try await client.changes(after: position, until: ["doors/2", "things/4"])
                try await database.run("UPDATE doors SET name = 'c' WHERE id = 2;")
                let next = try await client.changes(after: found.position, until: ["doors/2"])
                try await database.run("UPDATE things SET name = 'c' WHERE id = 4;")
                let last = try await client.changes(after: next.position, until: ["things/4"])
                await kept.keep(last.position)
                #expect(found.changes.count == 2 && next.changes.count == 1 && last.changes.count == 1)
            }
        }
        // A log that begins again is another history of the database, so the gateway begins another feed.
        try await server.run("RESET MASTER")
        try await database.run(String(repeating: "UPDATE homes SET hidden = 1 - hidden;", count: 500))
        try await BinlogFixture.run(on: database) { _, client async throws in
            let position = try await client.position()
            try await database.run("UPDATE doors SET name = 'd' WHERE id = 2;")
            _ = try await client.changes(after: position, until: ["doors/2"])
        }
    }

    /// After a reset of the log, other transactions have the numbers of transactions that were read.
    @Test("A reset of the log while it is read loses no change", .tags(.mariadb), .needsMariaDB)
    func reset() async throws {
        let server = try await PrivateMariaDB(options: PrivateMariaDB.logOptions)
        let database = try await BinlogFixture.database(FeedFixture.sql(.mariadb), server: server)
        try await BinlogFixture.run(on: database) { _, client async throws in
            let first = try await client.position()
            try await database.run("UPDATE doors SET name = 'a' WHERE id = 1;")
            _ = try await client.changes(after: first, until: ["doors/1"])
            let before = try await client.found().logged
            try await server.run("RESET MASTER")
            try await database.run("UPDATE things SET name = 'reset' WHERE id = 4;")
            let end = ContinuousClock.now + .seconds(90)
            var number = 0
            while try await client.found().logged == before {
                let ready = try await client.get("/readyz").text
                try #require(.now < end, "the log is not read: \(ready)")
                let position = try await client.position()
                number += 1
                try await database.run("UPDATE doors SET name = 'n\(number)' WHERE id = 2;")
                _ = try await client.get("/v1/changes?since=\(position.revision)&feed=\(position.feed)&wait=3")
            }
            // A client learns of the change right after the reset, or of a new feed.
            let answer = try await client.get("/v1/changes?since=\(first.revision)&feed=\(first.feed)")
            let isReported = try answer.json()["changes"]?.array.map(\.name).contains("things/4") ?? false
            #expect(answer.status == 410 || isReported, "\(answer.text)")
            #expect(try await client.found().onlyScanned == 0)
        }
    }

    /// The steps of the transaction in which the reader records a change, from its first write to its commit, and some
    /// more.
    private static let steps = 1...8

    /// A gateway that dies at any step of recording loses no change, and reports none twice.
    @Test("A reader that is killed at any step loses no change", .tags(.mariadb), .needsMariaDB)
    func killedReader() async throws {
        let database = try await BinlogFixture.database(FeedFixture.sql(.mariadb))
        let place = Kept<(feed: String, revision: Int)>()
        let deaths = Kept<[String]>()
        await deaths.keep([])
        for step in Self.steps {
            let stage = Stage()
            try await BinlogFixture.run(on: database, stage: stage) { _, client async throws in
                if let position = await place.value {
                    let former = "doors/\(100 + step - 1)"
                    let found = try await client.changes(after: position, until: [former])
                    #expect(found.changes.map(\.name) == [former], "after step \(step - 1)")
                    await place.keep(found.position)
                } else {
                    await place.keep(try await client.position())
                }
                // Passes of the scan also record changes, but not this one: they wait for the reader.
                let feed = JournalTables(schema: database.journalName, dialect: MariaDBDialect()).feed
                let name = RecordName(resource: "doors", record: "\(100 + step)")
                stage.die(at: step, from: feed.insertForeign([name], tags: ConditionTags(tags: [[]])))
                try await database.run("INSERT INTO doors (id, name) VALUES (\(100 + step), 's');")
                await stage.dies()
            }
            await deaths.keep(await (deaths.value ?? []) + [stage.death ?? ""])
            try await database.runOnJournal("UPDATE scan SET holder = NULL, until = NULL;")
        }
        let met = await deaths.value ?? []
        for part in ["INTO", "UPDATE", "COMMIT"] { #expect(met.contains { $0.contains(part) }, "\(met)") }
    }

    /// Without the right to read the log, the scan finds changes, and `/readyz` names the reason.
    @Test(
        "Without the right to read the log, the scan finds changes", .tags(.mariadb), .needsMariaDB,
        arguments: [RowLogUse.ifPossible, .expected])
    func missingRight(_ use: RowLogUse) async throws {
        let server = try await BinlogFixture.shared.value
        let database = try await TestDatabase(
            .mariadb, mariadb: FeedFixture.sql(.mariadb), sqlite: "", server: server)
        try await RunningGateway.with(
            database, rules: FeedFixture.rules, journal: .together,
            configure: { ScanFixture.configure(&$0, log: use) },
            { gateway async throws in
                try await gateway.client { client async throws in
                    try await client.hasScanned()
                    let position = try await client.position()
                    try await database.run("UPDATE doors SET name = 'a' WHERE id = 1;")
                    _ = try await client.changes(after: position, until: ["doors/1"])
                    let ready = try await client.get("/readyz").json()
                    #expect(ready["feed"]?["source"]?.text == "scan")
                    #expect(ready["feed"]?["binlogFault"]?.text?.contains("REPLICATION SLAVE") == true, "\(ready)")
                    #expect((ready["problems"]?.array.isEmpty == false) == (use == .expected))
                    // Another gateway scans, and reports the fault.
                    let other = try await ScanHold(database)
                    let end = ContinuousClock.now + .seconds(30)
                    while try await client.get("/readyz").json()["feed"]?["binlogFault"] != nil {
                        try #require(.now < end, "a gateway without the lease reports the fault")
                    }
                    try await other.end()
                }
            })
    }

    /// Tables with one name in two schemas, and two resources of one table.
    @Test("Tables with one name in two schemas are distinct", .tags(.mariadb), .needsMariaDB)
    func otherSchemas() async throws {
        let database = try await BinlogFixture.database(FeedFixture.sql(.mariadb))
        let other = database.name + "_other"
        try await database.runAsOperator(
            """
            CREATE DATABASE \(other); CREATE TABLE \(other).doors (id INT PRIMARY KEY, name VARCHAR(20));
            INSERT INTO \(other).doors VALUES (1, 'a'), (2, 'b');
            GRANT SELECT, INSERT, UPDATE, DELETE ON \(other).doors TO \(database.accountSQL);
            """)
        var rules = FeedFixture.rules
        rules["others.yaml"] = """
            resource: others
            sections:
              other: {schema: \(other), table: doors, groups: {name: name}}
            """
        rules["gates.yaml"] = "resource: gates\nsections:\n  gate: {table: doors, groups: {name: name}}\n"
        try await BinlogFixture.run(on: database, rules: rules) { _, client async throws in
            let position = try await client.position()
            try await database.runAsOperator("UPDATE \(other).doors SET name = 'x' WHERE id = 2;")
            let first = try await client.changes(after: position, until: ["others/2"])
            #expect(first.changes.map(\.name) == ["others/2"])
            try await database.run("UPDATE doors SET name = 'y' WHERE id = 1;")
            let second = try await client.changes(after: first.position, until: ["doors/1", "gates/1"])
            #expect(second.changes.count == 2)
            #expect(try await client.found().scanned == 0)
        }
    }
}
