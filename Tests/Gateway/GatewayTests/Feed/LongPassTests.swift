import Testing
import TestSupport

@testable import Gateway

/// A pass over a large table may be interrupted, and is finished nevertheless.
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

    /// Each sixth read fails.
    ///
    /// A pass from the beginning needs five reads until it finds that the last rows differ, so it cannot read the
    /// changed rows.
    @Test("An interrupted pass continues", arguments: TestEngine.allCases)
    func interrupted(_ kind: TestEngine) async throws {
        let stage = Stage()
        try await ScanFixture.run(on: try await Self.database(kind), rules: Self.rules, stage: stage) {
            gateway async throws in
            try await gateway.client { client async throws in
                let before = try await Self.position(client)
                stage.interrupt(every: 6)
                try await Self.write(-1, to: gateway.database)
                let reported = try await client.changes(after: before, until: Self.written)
                #expect(Set(reported.changes.map(\.name)) == Self.written)
            }
        }
    }

    /// Rules and schema are read again repeatedly without a change, during a pass of a second and a half.
    @Test("New rules do not end a pass", arguments: TestEngine.allCases)
    func reloadedRules(_ kind: TestEngine) async throws {
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
                    let reported = try await client.changes(after: before, until: Self.written)
                    #expect(Set(reported.changes.map(\.name)) == Self.written)
                    group.cancelAll()
                }
            }
        }
    }
}
