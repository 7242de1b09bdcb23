import Foundation
import Testing
import TestSupport

/// The journal cannot be written: nothing is merged without it, the client is told to try again, and the gateway goes
/// on by itself once it can.
@Suite(.timeLimit(.minutes(5))) struct FullJournalTests {
    /// Sends pushes until one is refused.
    ///
    /// - Returns: those that were merged, the refused one, and its answer.
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

    /// The refused push left nothing behind, again and again, and is merged once there is space.
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
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: merged))
        #expect(try await client.get("/v1/records/accounts/1").status == 200)
        try await makeSpace()
        let later = try await client.post("/v1/push", refused.body())
        #expect(later.status == 200, "\(later.text)")
        #expect(later.headers["idempotent-replayed"] == nil)
        #expect(try await Ledger.Standing(database) == Ledger.Standing(after: merged + [refused]))
        #expect(Ledger.rows(try await JournalReplay.all(client)) == (try await Ledger.rows(database)))
    }

    /// The system refuses to let any file of the process grow beyond what the journal has.
    @Test func aSQLiteJournalThatCannotGrow() async throws {
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
    @Test(.tags(.mariadb), .needsMariaDB) func aMariaDBJournalThatCannotGrow() async throws {
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

    @Test(arguments: TestEngine.allCases) func aJournalWithoutItsTable(_ kind: TestEngine) async throws {
        let database = try await Ledger.database(kind)
        try await RunningGateway.with(database, rules: Ledger.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let push = Ledger.Push(label: "p", account: 1, points: 1)
                try await database.runOnJournal("ALTER TABLE entries RENAME TO away;")
                let refused = try await client.post("/v1/push", push.body())
                #expect(refused.status == 503, "\(refused.text)")
                #expect(try refused.json()["code"]?.text == "resource-unavailable")
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: []))
                try await database.runOnJournal("ALTER TABLE away RENAME TO entries;")
                #expect(try await client.post("/v1/push", push.body()).status == 200)
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [push]))
            }
        }
    }

    /// A client must not drop a push that nobody has kept.
    @Test(.tags(.mariadb), .needsMariaDB) func aJournalThatMayNotBeWritten() async throws {
        let database = try await Ledger.database(.mariadb)
        // In the name of a schema GRANT takes _ for any character.
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
                try await database.run("GRANT INSERT ON \(journal) TO \(database.accountSQL)")
                #expect(try await client.post("/v1/push", push.body()).status == 200)
                #expect(try await Ledger.Standing(database) == Ledger.Standing(after: [push]))
            }
        }
    }
}
