import Testing
import TestSupport

@testable import Gateway

/// A pass over a large table takes longer than a gateway goes on without an interruption, and comes to its end all the same.
@Suite(.timeLimit(.minutes(5))) struct LongPassTests {
    private static let rules = [
        "cells.yaml": "resource: cells\nsections:\n  cell: {table: cells, groups: {value: value}}\n"
    ]
    /// A pass of five steps.
    private static let rows = 20_000

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        let table = "CREATE TABLE cells (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);"
        let counted = "SELECT i + 1 FROM n WHERE i < \(rows)"
        return try await TestDatabase(
            kind, mariadb: table + "INSERT INTO cells SELECT seq, seq FROM seq_1_to_\(rows);",
            sqlite: table
                + "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL \(counted)) INSERT INTO cells SELECT i, i FROM n;")
    }

    private static func position(_ client: HTTPClient.Session) async throws -> (feed: String, revision: Int) {
        let page = try await client.get("/v1/changes").json()
        return (page["feed"]?.text ?? "", page["revision"]?.int ?? -1)
    }

    private static func write(_ value: Int, to database: TestDatabase) async throws {
        try await database.run("UPDATE cells SET value = \(value) WHERE id IN (1, 9000, \(rows - 1));")
    }

    private static let written: Set = ["cells/1", "cells/9000", "cells/\(rows - 1)"]

    /// Every sixth read fails.
    ///
    /// A pass from the beginning reads five times until it finds that the last rows differ, and does not
    /// come to reading what has changed in them.
    @Test(arguments: TestEngine.allCases) func aPassThatIsBrokenOffGoesOn(_ kind: TestEngine) async throws {
        let stage = Stage()
        try await ScanFixture.run(on: try await Self.database(kind), rules: Self.rules, stage: stage) {
            gateway async throws in
            try await gateway.client { client async throws in
                let before = try await Self.position(client)
                stage.interrupt(every: 6)
                try await Self.write(-1, to: gateway.database)
                let told = try await client.changes(after: before, until: Self.written)
                #expect(Set(told.changes.map(\.name)) == Self.written)
            }
        }
    }

    /// Rules and schema are read again all the time, and are as they were: a pass of a second and a half goes on.
    @Test(arguments: TestEngine.allCases) func rulesThatAreReadAgainEndNoPass(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        try await ScanFixture.run(on: database, rules: Self.rules) { _ in }
        try await RunningGateway.with(
            database, rules: Self.rules, journal: .together,
            configure: {
                ScanFixture.configure(&$0)
                $0.scanRowsPerSecond = Self.rows
            }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let before = try await Self.position(client)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        while !Task.isCancelled {
                            gateway.askForReload()
                            try? await Task.sleep(for: .milliseconds(100))
                        }
                    }
                    try await Self.write(-2, to: database)
                    let told = try await client.changes(after: before, until: Self.written)
                    #expect(Set(told.changes.map(\.name)) == Self.written)
                    group.cancelAll()
                }
            }
        }
    }
}
