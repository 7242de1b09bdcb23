import Testing
import TestSupport

/// A scan of a table with many ranges, which grow, shrink and change all over.
@Suite struct RangeTests {
    private static let rules = [
        "cells.yaml": "resource: cells\nsections:\n  cell: {table: cells, groups: {value: value}}\n"
    ]

    private static func sql(_ kind: TestEngine) -> String {
        let make = "CREATE TABLE cells (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);"
        return make + insert((1...9_000).map { $0 * 10 })
    }

    private static func insert(_ ids: [Int]) -> String {
        "INSERT INTO cells VALUES " + ids.map { "(\($0), 0)" }.joined(separator: ", ") + ";"
    }

    @Test("Changes in every range are reported", arguments: TestEngine.allCases)
    func ranges(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql(.mariadb), sqlite: Self.sql(.sqlite))
        let last = Kept<(feed: String, revision: Int)>()
        try await ScanFixture.run(on: database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                var held = Set((1...9_000).map { $0 * 10 })
                var position = try await client.position()
                func reported(_ sql: String, _ ids: Set<Int>) async throws {
                    try await database.run(sql)
                    let found = try await client.changes(after: position, until: Set(ids.map { "cells/\($0)" }))
                    position = found.position
                    #expect(found.changes.count == ids.count, "\(sql.prefix(80))")
                }
                func update(_ filter: String, _ isMeant: (Int) -> Bool) async throws {
                    try await reported("UPDATE cells SET value = value + 1 WHERE \(filter);", held.filter(isMeant))
                }
                func delete(_ filter: String, _ isMeant: (Int) -> Bool) async throws {
                    let gone = held.filter(isMeant)
                    held.subtract(gone)
                    try await reported("DELETE FROM cells WHERE \(filter);", gone)
                }
                func insert(_ ids: [Int]) async throws {
                    held.formUnion(ids)
                    try await reported(Self.insert(ids), Set(ids))
                }
                // Every range differs. The next pass reads rows at once, and finds few changes or none.
                try await update("id % 70 = 0") { $0 % 70 == 0 }
                try await update("id = 44440") { $0 == 44_440 }
                // Ranges that are nearly empty are joined.
                try await delete("id BETWEEN 20000 AND 49000 AND id % 50 <> 0") {
                    (20_000...49_000).contains($0) && $0 % 50 != 0
                }
                // Many new rows inside one range, and many after the last range.
                try await insert(Array(5_001...7_500).filter { $0 % 10 != 0 })
                try await insert((9_001...11_000).map { $0 * 10 })
                try await update("id BETWEEN 5000 AND 30000") { (5_000...30_000).contains($0) }
                try await delete("id BETWEEN 1 AND 15000") { (1...15_000).contains($0) }
                try await update("id = 90000 OR id = 15010") { $0 == 90_000 || $0 == 15_010 }
                let marks = try await database.runOnJournal("SELECT SUM(size) FROM scan_ranges;")
                #expect(marks.split(separator: "\n").last.map(String.init) == "\(held.count)")
                await last.keep(position)
            }
        }
        // The next gateway can use the stored ranges.
        try await database.run("UPDATE cells SET value = -1 WHERE id = 110000;")
        let position = try #require(await last.value)
        try await ScanFixture.run(on: database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let reported = try await client.changes(after: position, until: ["cells/110000"]).changes
                #expect(reported.map(\.name) == ["cells/110000"])
            }
        }
    }
}
