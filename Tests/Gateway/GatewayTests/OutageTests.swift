import Testing
import TestSupport

/// A database that is down at the start, fails under load and returns.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OutageTests {
    private static let schema =
        "CREATE TABLE counters (id INT PRIMARY KEY, n VARCHAR(40) NOT NULL) ENGINE=InnoDB;"
        + "INSERT INTO counters VALUES (1,'start'),(2,'start'),(3,'start'),(4,'start');"
    private static let rules = [
        "counters.yaml": "resource: counters\nsections:\n  c:\n    table: counters\n    groups: {n: n}\n"
    ]

    @Test("Readiness follows the database", .tags(.mariadb), .needsMariaDB)
    func readiness() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(.mariadb, mariadb: Self.schema, sqlite: "", server: server)
        server.kill()
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let down = try await client.get("/readyz")
                #expect(down.status == 503)
                #expect(try down.json()["problems"]?.array.isEmpty == false)
                let refused = try await client.get("/v1/records/counters/1")
                #expect(refused.status == 503)
                #expect(refused.headers["retry-after"] != nil)
                #expect(try await client.get("/healthz").status == 200)
                try await server.start()
                try await Self.until { try await client.get("/readyz").status == 200 }
                #expect(try await client.get("/v1/records/counters/1").status == 200)
                server.kill()
                // The gateway uses a result that is less than a second old.
                try await Self.until { try await client.get("/readyz").status == 503 }
                let lost = try await client.post(
                    "/v1/merge/counters", #"{"id":1,"changeset":{"c":{"n":{"old":"start","new":"x"}}}}"#)
                #expect(lost.status == 503)
                #expect(lost.headers["retry-after"] != nil)
                try await server.start()
                try await Self.until { try await client.get("/readyz").status == 200 }
            }
        }
        server.kill()
    }

    /// Repeats the requests until the condition is true.
    static func until(_ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(120))
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                throw Shell.Failure(description: "it did not come true in time")
            }
            await Task.yield()
        }
    }

    @Test("A dropped column is reported, and served again when it is back", arguments: TestEngine.allCases)
    func droppedColumn(_ kind: TestEngine) async throws {
        let schema = Self.schema.replacing(" ENGINE=InnoDB", with: "")
        let database = try await TestDatabase(kind, mariadb: schema, sqlite: schema)
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let version = try await client.get("/v1/rules").json()["version"]?.text
                try await database.run("ALTER TABLE counters RENAME COLUMN n TO m;")
                let body = #"{"id":1,"changeset":{"c":{"n":{"old":"start","new":"x"}}}}"#
                let refused = try await client.post("/v1/merge/counters", body)
                #expect(refused.status == 503, "\(refused.text)")
                #expect(try refused.json()["code"]?.text == "resource-unavailable")
                try await Self.until {
                    try await client.get("/readyz").text.contains("has no column “n”")
                }
                #expect(try await database.run("SELECT m FROM counters WHERE id = 1;") == "start\n")
                try await database.run("ALTER TABLE counters RENAME COLUMN m TO n;")
                // The next reading finds the column, long before it is due.
                try await Self.until { try await client.post("/v1/merge/counters", body).status == 200 }
                #expect(try await client.get("/v1/rules").json()["version"]?.text == version)
                try await Self.until { try await client.get("/readyz").json()["problems"]?.array.isEmpty == true }
            }
        }
    }

    @Test("Each kind of request detects a changed schema", arguments: ["sync", "page"])
    func changedSchema(_ request: String) async throws {
        let schema = Self.schema.replacing(" ENGINE=InnoDB", with: "")
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: schema)
        try await RunningGateway.with(database, rules: Self.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                try await database.run("ALTER TABLE counters RENAME COLUMN n TO m;")
                let edit = #"{"resource":"counters","id":1,"changeset":{"c":{"n":{"old":"start","new":"x"}}}}"#
                let answer =
                    switch request {
                    case "sync": try await client.post("/v1/sync", #"{"pushes":[{"key":"a","edits":[\#(edit)]}]}"#)
                    default: try await client.get("/v1/records/counters")
                    }
                #expect(answer.text.contains("resource-unavailable"), "\(answer.text)")
                try await Self.until { try await client.get("/readyz").text.contains("has no column “n”") }
            }
        }
    }

    /// The gateway needs the right TRIGGER, to exclude that a trigger rounds the value.
    ///
    /// The documented rights do not contain it.
    @Test("A column that was narrowed stores no rounded value silently", .tags(.mariadb), .needsMariaDB)
    func narrowedColumn() async throws {
        let database = try await TestDatabase(
            .mariadb,
            mariadb: "CREATE TABLE prices (id INT PRIMARY KEY, p DECIMAL(10,2)); INSERT INTO prices VALUES (1, 1);",
            sqlite: "")
        let rules = ["p.yaml": "resource: prices\nsections:\n  c: {table: prices, groups: {p: p}}\n"]
        let privileged = try await database.withRight("TRIGGER")
        try await RunningGateway.with(privileged, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                let body = #"{"id":1,"changeset":{"c":{"p":{"old":"1","new":"1.25"}}}}"#
                try await database.run("ALTER TABLE prices MODIFY p DECIMAL(10,1)")
                let refused = try await client.post("/v1/merge/prices", body)
                // The push runs again after the schema was read. If that takes too long, the status is 503.
                #expect([400, 503].contains(refused.status), "\(refused.text)")
                #expect(try await database.run("SELECT p FROM prices") == "1.0\n")
                // The schema is read again, and then the value is refused with its path.
                try await Self.until { try await client.post("/v1/merge/prices", body).status == 400 }
            }
        }
    }

    /// Pushes that were answered with 200 are in the database after the crash, in the order of the answers.
    @Test("A database that is killed under load loses no answered merge", .tags(.mariadb), .needsMariaDB)
    func killedServer() async throws {
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(.mariadb, mariadb: Self.schema, sqlite: "", server: server)
        let merged = Counter()
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...4 {
                    group.addTask { try await gateway.client { try await Self.write(id, merged, $0) } }
                }
                group.addTask {
                    for round in 1...3 {
                        while merged.value < round * 100 {
                            try Task.checkCancellation()
                            await Task.yield()
                        }
                        server.kill()
                        try await server.start()
                    }
                }
                try await group.waitForAll()
            }
        }
        server.kill()
    }

    /// Writes to one record until there are enough merges, each based on the last answer.
    private static func write(_ id: Int, _ merged: Counter, _ client: HTTPClient.Session) async throws {
        var known = "start"
        var number = 0
        var statuses: Set<Int> = []
        while merged.value < 500 {
            number += 1
            let value = "\(id).\(number)"
            let answer = try await client.post(
                "/v1/merge/counters", #"{"id":\#(id),"changeset":{"c":{"n":{"old":"\#(known)","new":"\#(value)"}}}}"#)
            statuses.insert(answer.status)
            switch answer.status {
            case 200:
                // This client alone writes to the record, so a conflict means that an answered merge was lost.
                #expect(try answer.json()["outcomes"]?[0]?["outcome"]?.text == "applied", "\(answer.text)")
                known = value
                merged.increase()
            case 503: #expect(answer.headers["retry-after"] != nil)
            case 504:
                // The COMMIT may have succeeded, so the client reads the record.
                var read = try await client.get("/v1/records/counters/\(id)")
                while read.status == 503 { read = try await client.get("/v1/records/counters/\(id)") }
                let stands = try read.json()["c"]?["n"]?.text ?? ""
                #expect(stands == known || stands == value)
                known = stands
            default: Issue.record("\(answer.status) \(answer.text)")
            }
        }
        #expect(statuses.contains(200))
    }
}
