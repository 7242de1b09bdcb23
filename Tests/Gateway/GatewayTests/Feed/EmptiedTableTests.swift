import Gateway
import Testing
import TestSupport

@testable import ChangeFeed

/// A table that has lost most of its rows may be in the middle of a restore.
@Suite(.timeLimit(.minutes(3))) struct EmptiedTableTests {
    private static let rules = [
        "cells.yaml": "resource: cells\nsections:\n  cell: {table: cells, groups: {value: value}}\n",
        "others.yaml": "resource: others\nsections:\n  other: {table: others, groups: {value: value}}\n",
    ]
    private static let rows = 300

    private static let insert =
        "INSERT INTO cells VALUES " + (1...rows).map { "(\($0), \($0))" }.joined(separator: ", ") + ";"

    private static func with(
        _ kind: TestEngine, pause: Duration,
        _ body: @escaping @Sendable (TestDatabase, HTTPClient.Session, KeptLog) async throws -> Void
    ) async throws {
        let sql =
            "CREATE TABLE cells (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);"
            + "CREATE TABLE others (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);"
            + "INSERT INTO others VALUES (1, 1);" + insert
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        let log = KeptLog()
        try await RunningGateway.with(
            database, rules: rules, journal: .together, log: log,
            configure: {
                ScanFixture.configure(&$0)
                $0.emptiedPause = pause
            },
            { gateway async throws in
                try await gateway.client { client async throws in
                    try await client.hasScanned()
                    try await body(database, client, log)
                }
            })
    }

    private static func warnings(_ log: KeptLog) -> [String] {
        log.lines.filter { $0.contains("“cells/cell” had \(rows) rows and has") }
    }

    @Test("A table that is filled again meanwhile has lost nothing", arguments: TestEngine.allCases)
    func restored(_ kind: TestEngine) async throws {
        try await Self.with(kind, pause: .seconds(4)) { database, client, log in
            let position = try await client.position()
            try await database.run("DELETE FROM cells;")
            try await OutageTests.until { !Self.warnings(log).isEmpty }
            // Other tables are scanned all the same.
            try await database.run("UPDATE others SET value = 2;")
            let others = try await client.changes(after: position, until: ["others/1"])
            #expect(others.changes.map(\.name) == ["others/1"])
            try await database.run(Self.insert)
            try await database.run("UPDATE cells SET value = -1 WHERE id = 7;")
            let reported = try await client.changes(after: others.position, until: ["cells/7"])
            #expect(reported.changes.map(\.name) == ["cells/7"])
            #expect(Self.warnings(log).count == 1, "\(log.lines)")
        }
    }

    @Test("A table that remains empty is reported after the pause", arguments: TestEngine.allCases)
    func emptied(_ kind: TestEngine) async throws {
        try await Self.with(kind, pause: .milliseconds(300)) { database, client, log in
            let position = try await client.position()
            try await database.run("DELETE FROM cells WHERE id > 140;")
            let names = Set((141...Self.rows).map { "cells/\($0)" })
            let reported = try await client.changes(after: position, until: names)
            #expect(Set(reported.changes.map(\.name)) == names)
            #expect(reported.changes.allSatisfy { $0["record"]?.isNull == true })
            #expect(Self.warnings(log).count == 1, "\(log.lines)")
        }
    }

    @Test("A table that loses less than half is reported at once", arguments: TestEngine.allCases)
    func thinned(_ kind: TestEngine) async throws {
        try await Self.with(kind, pause: .seconds(3_600)) { database, client, log in
            let position = try await client.position()
            try await database.run("DELETE FROM cells WHERE id > 170;")
            let names = Set((171...Self.rows).map { "cells/\($0)" })
            #expect(Set(try await client.changes(after: position, until: names).changes.map(\.name)) == names)
            #expect(Self.warnings(log).isEmpty)
        }
    }

    @Test("A section has lost most of its rows from a hundred on")
    func bounds() {
        #expect(EmptiedSection.hasLostMost(of: 100, left: 0))
        #expect(EmptiedSection.hasLostMost(of: 199, left: 99))
        #expect(!EmptiedSection.hasLostMost(of: 200, left: 100))
        #expect(!EmptiedSection.hasLostMost(of: 99, left: 0))
    }

    @Test("A section that fills again waits on, but not for ever")
    func waits() {
        func emptied(_ waits: Int) -> EmptiedSection {
            EmptiedSection("cells.cell", of: 300, left: 10, until: .now, waits: waits)
        }
        #expect(emptied(1).isFinal(left: 10) && emptied(1).isFinal(left: 9))
        #expect(!emptied(1).isFinal(left: 11) && !emptied(9).isFinal(left: 11))
        #expect(emptied(10).isFinal(left: 11))
    }

    @Test("Rows are counted when the losses have doubled")
    func counts() {
        var losses = LossCount()
        let due = [50, 49, 1, 99, 1, 150, 50].map { losses.isCountDue(adding: $0) }
        #expect(due == [false, false, true, false, true, false, true])
    }
}
