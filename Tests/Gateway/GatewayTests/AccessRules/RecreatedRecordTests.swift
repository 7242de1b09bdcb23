import Operations
import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// Records that another program deletes and a client creates again for other clients.
@Suite(.timeLimit(.minutes(5))) struct RecreatedRecordTests {
    private static let table = "CREATE TABLE things (id VARCHAR(20) PRIMARY KEY, owner VARCHAR(20), note VARCHAR(20));"
    private static let rules = [
        "things.yaml": """
        resource: things
        sections: {thing: {table: things, groups: {owner: owner, note: note}}}
        access:
          driver: {read: all, write: all, rows: {owner: {claim: who}}}
          office: {read: all, write: all, create: true, delete: true, rows: all}
        """
    ]
    private static let driver = Rounds.Client("d1", ["driver"])
    private static let office = Rounds.Client("office", ["office"], rights: [.read, .write, .operate])

    /// A client that polls the feed.
    private struct Follower {
        let gateway: RunningGateway
        var feed = ""
        var revision = 0

        init(_ gateway: RunningGateway) async throws {
            self.gateway = gateway
            let start = try await gateway.get("/v1/changes", as: driver).json()
            feed = start["feed"]?.text ?? ""
            revision = start["revision"]?.int ?? 0
        }

        /// Polls until a record is named, and returns the names with `-` before records that are gone.
        mutating func poll(until id: String) async throws -> [String] {
            var named: [String] = []
            let end = ContinuousClock.now + .seconds(60)
            while !named.contains(id) {
                guard ContinuousClock.now < end else { throw Shell.Failure(description: "\(id) is not in \(named)") }
                let page = try await gateway.get(
                    "/v1/changes?feed=\(feed)&since=\(revision)&wait=2", as: driver
                ).json()
                for change in page["changes"]?.array ?? [] {
                    named.append((change["record"]?.isNull == true ? "-" : "") + (change["id"]?.text ?? ""))
                }
                revision = page["revision"]?.int ?? revision
            }
            return named
        }
    }

    private static func create(_ id: String, for owner: String, on gateway: RunningGateway) async throws {
        let answer = try await gateway.post(
            "/v1/merge/things",
            #"{"id":"\#(id)","changeset":{"thing":{"old":null,"new":{"owner":\#(owner)}}}}"#, as: office)
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static func follow(_ gateway: RunningGateway, _ removal: String) async throws {
        var driver = try await Follower(gateway)
        try await gateway.database.run("INSERT INTO things VALUES ('A', 'd1', 'n');")
        #expect(try await driver.poll(until: "A") == ["A"])
        // A pass that begins after the record was reported.
        try await gateway.database.run("INSERT INTO things VALUES ('X', 'd1', 'n');")
        _ = try await driver.poll(until: "X")
        try await gateway.database.run(removal)
        _ = try await driver.poll(until: "-A")
        try await create("A", for: "null", on: gateway)
        try await create("B", for: #""d1""#, on: gateway)
        let named = try await driver.poll(until: "B")
        #expect(!named.contains("-A") && !named.contains("A"), "\(named)")
        // A record that the client could read is reported.
        try await gateway.database.run("UPDATE things SET owner = 'd1' WHERE id = 'A';")
        _ = try await driver.poll(until: "A")
        try await gateway.database.run("UPDATE things SET owner = NULL WHERE id = 'A';")
        _ = try await driver.poll(until: "-A")
        try await gateway.database.run("DELETE FROM things WHERE id = 'B';")
        _ = try await driver.poll(until: "-B")
        try await create("B", for: #""d1""#, on: gateway)
        _ = try await driver.poll(until: "B")
        let given = try await gateway.post(
            "/v1/merge/things", #"{"id":"B","changeset":{"thing":{"owner":{"old":"d1","new":"d2"}}}}"#, as: office)
        #expect(given.status == 200, "\(given.text)")
        _ = try await driver.poll(until: "-B")
    }

    private static let removals = [
        "DELETE FROM things WHERE id = 'A';", "UPDATE things SET id = 'Z' WHERE id = 'A';",
        "UPDATE things SET id = 'Z', owner = 'd2' WHERE id = 'A';",
    ]

    private static func run(on database: TestDatabase, log: Bool, _ removal: String) async throws {
        try await RunningGateway.with(
            database, rules: rules, tokens: [driver, office].map(\.line).joined(separator: "\n"), journal: .together,
            configure: { if log { ScanFixture.configure(&$0, log: .expected) } else { ScanFixture.configure(&$0) } },
            { gateway async throws in
                try await gateway.client(token: office.secret) { client async throws in
                    if log { try await client.followsLog() } else { try await client.hasScanned() }
                }
                try await follow(gateway, removal)
            })
    }

    @Test(
        "The scan: a record created for other clients is not reported again", arguments: TestEngine.allCases, removals)
    func scan(_ kind: TestEngine, _ removal: String) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.table, sqlite: Self.table)
        try await Self.run(on: database, log: false, removal)
    }

    @Test(
        "The binary log: a record created for other clients is not reported again", .tags(.mariadb), .needsMariaDB,
        arguments: removals)
    func rowLog(_ removal: String) async throws {
        try await Self.run(on: BinlogFixture.database(Self.table), log: true, removal)
    }
}
