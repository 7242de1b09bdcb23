import Foundation
import Testing
import TestSupport

/// A gateway that scans may die at every step, and the digests are of a kind that no two changes hide.
@Suite(.timeLimit(.minutes(5))) struct ScanStepTests {
    private static let rules = [
        "cells.yaml": "resource: cells\nsections:\n  cell: {table: cells, groups: {value: value}}\n"
    ]

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        let rows = (1...500).map { "(\($0), \($0))" }.joined(separator: ", ")
        let sql =
            "CREATE TABLE cells (id INTEGER PRIMARY KEY, value INTEGER NOT NULL); INSERT INTO cells VALUES \(rows);"
        return try await TestDatabase(kind, mariadb: sql, sqlite: sql)
    }

    /// The steps from the first difference to the end of the cycle, and some more.
    private static let steps = 1...26

    /// The next gateway reports the changes, and digests fit the stored changes.
    @Test("A scanner that is killed at any step loses no change", arguments: TestEngine.allCases)
    func killedScanner(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        let place = Kept<(feed: String, revision: Int)>()
        let deaths = Kept<[String]>()
        await deaths.keep([])
        for step in Self.steps {
            let stage = Stage()
            try await ScanFixture.run(on: database, rules: Self.rules, stage: stage) { gateway async throws in
                try await gateway.client { client async throws in
                    try await Self.catchUp(client, at: place, behind: step - 1)
                    stage.die(at: step)
                    // A row is inserted and one is deleted, so that the range has another size.
                    try await database.run(
                        "UPDATE cells SET value = \(-step) WHERE id IN (1, 400); DELETE FROM cells WHERE id = \(step + 1);"
                            + "INSERT INTO cells VALUES (\(1_000 + step), 0);")
                    let end = ContinuousClock.now + .seconds(30)
                    while stage.death == nil {
                        try #require(.now < end, "the scan does not come to step \(step)")
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }
            }
            await deaths.keep(await (deaths.value ?? []) + [stage.death ?? ""])
            // The next gateway does not have to wait for the lease of the killed one.
            try await database.runOnJournal("UPDATE scan SET holder = NULL, until = NULL;")
        }
        try await ScanFixture.run(on: database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                try await Self.catchUp(client, at: place, behind: Self.steps.upperBound)
            }
        }
        let met = await deaths.value ?? []
        #expect(met.contains("COMMIT"), "no death between the writes and their commit: \(met)")
        for part in ["SELECT marks", "INTO", "scan_ranges", "UPDATE"] {
            #expect(met.contains { $0.contains(part) }, "no death at “\(part)” among \(met)")
        }
    }

    /// Follows the feed until all changes before the kill of a step are reported.
    private static func catchUp(
        _ client: HTTPClient.Session, at place: Kept<(feed: String, revision: Int)>, behind step: Int
    ) async throws {
        guard let position = await place.value else { return await place.keep(try await client.position()) }
        let names: Set<String> = ["cells/1", "cells/400", "cells/\(step + 1)", "cells/\(1_000 + step)"]
        let reported = try await client.changes(after: position, until: names)
        var last: [String: JSON] = [:]
        for change in reported.changes { last[change.name] = change }
        for name in ["cells/1", "cells/400"] {
            #expect(last[name]?["record"]?["cell"]?["value"]?.int == -step, "\(name) behind step \(step)")
        }
        #expect(last["cells/\(step + 1)"]?["record"]?.isNull == true)
        #expect(
            Set(reported.changes.map(\.name)).subtracting(names).isEmpty,
            "an unwritten change is reported after step \(step)")
        await place.keep(reported.position)
    }

    /// Two rows exchange their values, and one adds the amount that another loses.
    ///
    /// Sums of linear digests do not change. The mutant has such digests, and reports nothing.
    @Test("Changes with an unchanged sum of values are reported", arguments: TestEngine.allCases, [false, true])
    func balancedChanges(_ kind: TestEngine, _ isMutant: Bool) async throws {
        let database = try await Self.database(kind)
        try await ScanFixture.run(on: database, rules: Self.rules, stage: Stage(isLinear: isMutant)) {
            gateway async throws in
            try await gateway.client { client async throws in
                let position = try await client.position()
                let cycles = try await client.metric("fieldmerge_scan_cycles_total")
                try await database.run(
                    "UPDATE cells SET value = 13 - value WHERE id IN (6, 7);"
                        + "UPDATE cells SET value = value + CASE id WHEN 20 THEN 1 ELSE -1 END WHERE id IN (20, 30);")
                if isMutant {
                    // A SQLite file is scanned once for each write.
                    let end = ContinuousClock.now + .seconds(30)
                    while try await client.metric("fieldmerge_scan_cycles_total") < cycles + (kind == .sqlite ? 1 : 3) {
                        try #require(.now < end)
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    #expect(try await client.changes(after: position)["changes"]?.array.isEmpty == true)
                    // The mutant reports a change that alters the sum.
                    try await database.run("UPDATE cells SET value = 0 WHERE id = 40;")
                }
                let names: Set<String> = ["cells/6", "cells/7", "cells/20", "cells/30"]
                let reported = try await client.changes(after: position, until: isMutant ? ["cells/40"] : names)
                #expect(Set(reported.changes.map(\.name)).isSuperset(of: isMutant ? ["cells/40"] : names))
            }
        }
    }
}
