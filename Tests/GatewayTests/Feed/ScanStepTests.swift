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

    /// Steps from the one at which a difference is found to the end of the cycle, and some more.
    private static let steps = 1...26

    /// Whatever a gateway had done by then, the next one tells what was written, and marks and changes fit together.
    @Test(arguments: TestEngine.allCases) func aScannerMayDieAtEveryStep(_ kind: TestEngine) async throws {
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
                    // One comes and one goes besides, so that the range has another size as well.
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
            // Nobody has to wait for the lease of one that is gone.
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

    /// Follows the feed until everything is told that was written before the death of a step.
    private static func catchUp(
        _ client: HTTPClient.Session, at place: Kept<(feed: String, revision: Int)>, behind step: Int
    ) async throws {
        guard let position = await place.value else { return await place.keep(try await client.position()) }
        let names: Set<String> = ["cells/1", "cells/400", "cells/\(step + 1)", "cells/\(1_000 + step)"]
        let told = try await client.changes(after: position, until: names)
        var last: [String: JSON] = [:]
        for change in told.changes { last[change.name] = change }
        for name in ["cells/1", "cells/400"] {
            #expect(last[name]?["record"]?["cell"]?["value"]?.int == -step, "\(name) behind step \(step)")
        }
        #expect(last["cells/\(step + 1)"]?["record"]?.isNull == true)
        #expect(
            Set(told.changes.map(\.name)).subtracting(names).isEmpty, "what nobody wrote is told behind step \(step)")
        await place.keep(told.position)
    }

    /// Two rows swap their values, and one gains what another loses: sums of digests that are linear in the values do
    /// not see it, so a gateway with such digests, which is the mutant, tells nothing.
    @Test(arguments: TestEngine.allCases, [false, true])
    func changesThatAddUpToNothingAreTold(_ kind: TestEngine, _ isMutant: Bool) async throws {
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
                    // A file is scanned once for what was written to it.
                    let end = ContinuousClock.now + .seconds(30)
                    while try await client.metric("fieldmerge_scan_cycles_total") < cycles + (kind == .sqlite ? 1 : 3) {
                        try #require(.now < end)
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    #expect(try await client.changes(after: position)["changes"]?.array.isEmpty == true)
                    // It does see what does not add up to nothing.
                    try await database.run("UPDATE cells SET value = 0 WHERE id = 40;")
                }
                let names: Set<String> = ["cells/6", "cells/7", "cells/20", "cells/30"]
                let told = try await client.changes(after: position, until: isMutant ? ["cells/40"] : names)
                #expect(Set(told.changes.map(\.name)).isSuperset(of: isMutant ? ["cells/40"] : names))
            }
        }
    }
}
