import Foundation
import Testing
import TestSupport

/// The journal cannot be written.
///
/// Nothing is merged without it, the client may repeat its push, and the gateway continues when the journal can be
/// written again.
@Suite(.timeLimit(.minutes(5))) struct FullJournalTests {
    /// Sends pushes until one is refused.
    ///
    /// - Returns: the merged pushes, the refused push, and its answer.
    private static func fill(
        _ client: HTTPClient.Session
    ) async throws -> (merged: [Ledger.Push], refused: Ledger.Push, answer: HTTPClient.Answer) {
        var merged: [Ledger.Push] = []
        while merged.count < 500 {
            let push = Ledger.Push(label: "f\(merged.count)", account: 1, points: 1)
            let answer = try await client.post("/v1/push", push.body())
            guard answer.status == 200 else { return (merged, push, answer) }
            merged.append(push)
        }
        throw Shell.Failure(description: "the journal is never full")
    }

    /// The refused push has no effect at any repetition, and is merged when there is space.
    private static func prove(
        _ client: HTTPClient.Session, _ database: TestDatabase, fill: @Sendable () async throws -> Void,
        makeSpace: @Sendable () async throws -> Void
    ) async throws {
        try await fill()
        let (merged, refused, answer) = try await Self.fill(client)
        #expect(answer.status == 503, "\(answer.text)")
        #expect(try answer.json()["code"]?.text == "cannot-write")
        #expect(try answer.json()["retry"]?.bool == true)
        #expect(answer.headers["retry-after"] != nil)
        #expect(try await client.post("/v1/push", refused.body()).status == 503)
        try await OutageTests.until { try await client.get("/readyz").status == 503 }
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: merged))
        #expect(try await client.get("/v1/records/accounts/1").status == 200)
        try await makeSpace()
        try await OutageTests.until { try await client.get("/readyz").status == 200 }
        let later = try await client.post("/v1/push", refused.body())
        #expect(later.status == 200, "\(later.text)")
        #expect(later.headers["idempotent-replayed"] == nil)
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: merged + [refused]))
        #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
    }

    /// The operating system limits the size of each file to that of the journal.
    @Test("Pushes wait while a journal in SQLite cannot grow")
    func fullSQLite() async throws {
        let database = try await Ledger.database(.sqlite)
        // A write beyond the limit is to fail, as on a full disk, rather than to end the process.
        let gateway = try await GatewayProcess(
            database, rules: Ledger.rules, wrapper: ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        @Sendable func limit(_ bytes: String) async throws {
            try await Shell.run(["prlimit", "--pid", "\(gateway.identifier)", "--fsize=\(bytes):"])
        }
        try await HTTPClient.with(port: gateway.port) { client async throws in
            try await Self.prove(client, database) {
                let attributes = try FileManager.default.attributesOfItem(atPath: database.journalName)
                // The journal is larger than the database, so it is the first to reach the limit.
                try await limit("\((attributes[.size] as? Int ?? 0) + 40_000)")
            } makeSpace: {
                try await limit("unlimited")
            }
        }
        #expect(try await database.run("PRAGMA integrity_check;") == "ok\n")
        #expect(try await database.runOnJournal("PRAGMA integrity_check;") == "ok\n")
        #expect(gateway.log.contains("cannot be written"), "\(gateway.log)")
    }

    /// The server's system tablespace, in which the journal is, cannot grow.
    @Test("Pushes wait while a journal in MariaDB cannot grow", .tags(.mariadb), .needsMariaDB)
    func fullMariaDB() async throws {
        let server = try await PrivateMariaDB(options: ["--innodb-data-file-path=ibdata1:12M:autoextend:max:14M"])
        let database = try await Ledger.database(.mariadb, server: server)
        try await server.run("SET GLOBAL innodb_file_per_table = OFF")
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { gateway async throws in
            try await database.runOnJournal("CREATE TABLE filler (b VARBINARY(7000)) ENGINE=InnoDB")
            // A transaction that is not committed fills the space, because taking it back needs none.
            let filler = try database.session()
            try await filler.run("BEGIN;")
            try await gateway.client { client async throws in
                try await Self.prove(client, database) {
                    let insert = "INSERT INTO \(database.journalName).filler VALUES (REPEAT('x', 7000));\n"
                    let printed = try await filler.run(String(repeating: insert, count: 1_500))
                    let isFull = printed.contains("ERROR 1114")
                    #expect(isFull)
                } makeSpace: {
                    try await filler.run("ROLLBACK;")
                }
            }
        }
        server.kill()
    }

    /// The push has no error, so the refusal is never final.
    @Test(
        "Pushes wait while the journal has lost a table", arguments: TestEngine.allCases,
        [JournalPlace.together, .ahead])
    func lostTable(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await Self.database(kind, place)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                let journal = { @Sendable (sql: String) async throws in try await database.run(sql, onJournal: place) }
                try await Self.proveLoss(client, database) {
                    try await journal("ALTER TABLE entries RENAME TO away;")
                } bringBack: {
                    try await journal("ALTER TABLE away RENAME TO entries;")
                }
            }
        }
    }

    @Test(
        "Pushes wait while the whole journal is lost", arguments: TestEngine.allCases, [JournalPlace.together, .ahead])
    func lostJournal(_ kind: TestEngine, _ place: JournalPlace) async throws {
        let database = try await Self.database(kind, place)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: place) { gateway async throws in
            try await gateway.client { client async throws in
                if kind == .sqlite || place == .ahead {
                    let file = database.journalFile
                    try await Self.proveLoss(client, database) {
                        try await Shell.run(["mv", file, file + ".away"])
                    } bringBack: {
                        try await Shell.run(["mv", file + ".away", file])
                    }
                } else {
                    let (here, away) = (database.journalName, database.journalName + "_away")
                    let tables = try await database.runOnJournal("SHOW TABLES;").split(separator: "\n")
                    @Sendable func move(_ from: String, _ to: String) -> String {
                        "CREATE DATABASE \(to);" + tables.map { "RENAME TABLE \(from).\($0) TO \(to).\($0);" }.joined()
                            + "DROP DATABASE \(from);"
                    }
                    try await Self.proveLoss(client, database) {
                        try await database.runAsOperator(move(here, away))
                    } bringBack: {
                        try await database.runAsOperator(move(away, here))
                    }
                }
            }
        }
    }

    /// The tables are locked as a whole before the first statement.
    @Test("Pushes to tables without transactions wait as well", .tags(.mariadb), .needsMariaDB)
    func lostTableAmongLocks() async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: "CREATE TABLE bins (id INT PRIMARY KEY, label VARCHAR(20) NOT NULL) ENGINE=MyISAM;"
                + "INSERT INTO bins VALUES (1, 'one');", sqlite: "")
        let rules = [
            "bins.yaml":
                "resource: bins\nnon-transactional: allow\nsections:\n  bin: {table: bins, groups: {label: label}}\n"
        ]
        try await database.initJournal()
        try await database.grantTableLocks()
        let journal = "`\(database.journalName.replacing("_", with: "\\_"))`.*"
        try await database.runAsOperator("GRANT LOCK TABLES ON \(journal) TO \(database.accountSQL)")
        try await RunningGateway.with(database, rules: rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let push =
                    #"{"key":"p","edits":[{"resource":"bins","id":1,"changeset":{"bin":{"label":{"old":"one","new":"x"}}}}]}"#
                try await database.runOnJournal("ALTER TABLE entries RENAME TO away;")
                for _ in 0..<4 {
                    let refused = try await client.post("/v1/push", push)
                    #expect(refused.status == 503, "\(refused.text)")
                    #expect(try refused.json()["code"]?.text == "cannot-write", "\(refused.text)")
                }
                #expect(try await database.run("SELECT label FROM bins") == "one\n")
                try await database.runOnJournal("ALTER TABLE away RENAME TO entries;")
                #expect(try await client.post("/v1/push", push).status == 200)
            }
        }
    }

    private static func database(_ kind: TestEngine, _ place: JournalPlace) async throws -> TestDatabase {
        let database = try await Ledger.database(kind)
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        return database
    }

    private static func proveLoss(
        _ client: HTTPClient.Session, _ database: TestDatabase, takeAway: @Sendable () async throws -> Void,
        bringBack: @Sendable () async throws -> Void
    ) async throws {
        let known = Ledger.Push(label: "k", account: 2, points: 1)
        #expect(try await client.post("/v1/push", known.body()).status == 200)
        #expect(try await client.get("/readyz").status == 200)
        let push = Ledger.Push(label: "p", account: 1, points: 1)
        try await takeAway()
        for _ in 0..<4 {
            let refused = try await client.post("/v1/push?by=true", push.body())
            #expect(refused.status == 503, "\(refused.text)")
            #expect(try refused.json()["code"]?.text == "cannot-write", "\(refused.text)")
            #expect(try refused.json()["retry"]?.bool == true)
            #expect(refused.headers["retry-after"] != nil)
        }
        let sync = try await client.post("/v1/sync", #"{"pushes":[\#(push.body()),\#(known.body())]}"#).json()
        let codes = sync["results"]?.array.map { $0["problem"]?["code"]?.text ?? "" } ?? []
        // A file that was moved can still be read, so the known key has its answer.
        #expect(codes.first == "cannot-write" && ["not-run", ""].contains(codes.last), "\(sync)")
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [known]))
        try await OutageTests.until { try await client.get("/readyz").status == 503 }
        #expect(try await client.get("/readyz").text.contains("nothing can be pushed: the "))
        #expect(try await client.get("/v1/records/accounts/1").status == 200)
        try await bringBack()
        let later = try await client.post("/v1/push", push.body())
        #expect(later.status == 200, "\(later.text)")
        #expect(try await client.post("/v1/push", known.body()).headers["idempotent-replayed"] == "true")
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [known, push]))
        try await OutageTests.until { try await client.get("/readyz").status == 200 }
    }

    /// A client must not drop a push that was not stored.
    @Test("Pushes wait while the right to write the journal is missing", .tags(.mariadb), .needsMariaDB)
    func missingRight() async throws {
        let database = try await Ledger.database(.mariadb)
        // In the schema's name of a GRANT, `_` means any character.
        let journal = "`\(database.journalName.replacing("_", with: "\\_"))`.*"
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) {
            gateway async throws in
            try await gateway.client { client async throws in
                let push = Ledger.Push(label: "p", account: 1, points: 1)
                try await database.run("REVOKE INSERT ON \(journal) FROM \(database.accountSQL)")
                let refused = try await client.post("/v1/push", push.body())
                #expect(refused.status == 503, "\(refused.text)")
                #expect(try refused.json()["code"]?.text == "cannot-write")
                #expect(try refused.json()["retry"]?.bool == true)
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: []))
                try await OutageTests.until { try await client.get("/readyz").text.contains("lacks a right") }
                #expect(try await client.get("/readyz").status == 503)
                try await database.run("GRANT INSERT ON \(journal) TO \(database.accountSQL)")
                #expect(try await client.post("/v1/push", push.body()).status == 200)
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [push]))
            }
        }
    }
}
