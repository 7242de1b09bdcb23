import Testing
import TestSupport

@testable import Gateway

/// A row whose key cannot be decoded has no id.
///
/// It is omitted, and other rows are not affected.
@Suite(.timeLimit(.minutes(3))) struct UnreadableKeyTests {
    private static let days = (1...9).map { "2026-01-0\($0)" } + ["2026-03-01"]
    /// More than a page reads at once.
    private static let many = 130

    private static func insert(_ keys: some Sequence<String>) -> String {
        "INSERT INTO days VALUES \(keys.map { "(\($0), 0)" }.joined(separator: ", "));"
    }

    /// Three such rows between readable ones, and many rows before them.
    private static func sql(_ kind: TestEngine) -> String {
        let table =
            "CREATE TABLE days (day \(kind == .mariadb ? "DATE" : "VARCHAR(10)") PRIMARY KEY, n INTEGER NOT NULL);"
            + insert(days.map { "'\($0)'" })
        switch kind {
        case .mariadb:
            let bad = ["'2026-02-30'", "'2026-02-31'", "'2026-04-31'"] + (0..<many).map { "'\(1_800 + $0)-02-30'" }
            return table + "SET sql_mode = 'ALLOW_INVALID_DATES';" + insert(bad)
        case .sqlite:
            let bad =
                ["CAST(x'32303235ff' AS TEXT)", "CAST(x'3230fe' AS TEXT)", "NULL"]
                + (0..<many).map { "CAST(x'30ff' || '\($0)' AS TEXT)" }
            return table + insert(bad)
        }
    }

    private static let removal =
        "DELETE FROM days WHERE n = 0 AND (CAST(day AS CHAR(10)) NOT IN ("
        + days.map { "'\($0)'" }.joined(separator: ", ") + ") OR day IS NULL);"

    private static let rules = [
        "days.yaml": "resource: days\nsections:\n  day: {table: days, groups: {n: n}}\n"
    ]

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (HTTPClient.Session, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql(.mariadb), sqlite: sql(.sqlite))
        try await RunningGateway.with(database, rules: rules, journal: .together, configure: ScanFixture.configure) {
            gateway async throws in
            try await gateway.client { try await body($0, database) }
        }
    }

    @Test("Pages omit rows whose key cannot be decoded", arguments: TestEngine.allCases)
    func pages(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            for limit in [1, 3, 10, 100] {
                var (ids, next): ([String], String?) = ([], "")
                while let after = next, ids.count <= Self.days.count {
                    let path = "/v1/records/days?limit=\(limit)" + (after.isEmpty ? "" : "&after=\(after)")
                    let page = try await client.get(path)
                    #expect(page.status == 200, "\(page.text)")
                    ids += try page.json()["records"]?.array.compactMap { $0["id"]?.text } ?? []
                    next = try page.json()["next"]?.text
                }
                #expect(ids == Self.days, "limit \(limit)")
            }
        }
    }

    @Test("A snapshot omits rows whose key cannot be decoded, and is complete", arguments: TestEngine.allCases)
    func snapshots(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, _ in
            let lines = try await client.get("/v1/snapshot").text.split(separator: "\n").map { try JSON(String($0)) }
            #expect(lines.filter { $0["resource"] != nil }.compactMap { $0["id"]?.text } == Self.days)
            #expect(lines.last?["end"]?["records"]?.int == Self.days.count)
        }
    }

    @Test("The scan continues with the other rows of the section", arguments: TestEngine.allCases)
    func scans(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await client.hasScanned()
            let start = try await client.position()
            try await database.run("UPDATE days SET n = 7 WHERE day IN ('2026-01-01', '2026-03-01');")
            let names: Set = [#"days/"2026-01-01""#, #"days/"2026-03-01""#]
            let reported = try await client.changes(after: start, until: names)
            #expect(Set(reported.changes.map(\.name)) == names)
            // The row is repaired: it has an id now.
            try await database.run(
                kind == .mariadb
                    ? "SET sql_mode = 'ALLOW_INVALID_DATES';"
                        + "UPDATE days SET day = '2026-05-01' WHERE day = '2026-04-31';"
                    : "UPDATE days SET day = '2026-05-01' WHERE day IS NULL;")
            let repaired = try await client.changes(after: reported.position, until: [#"days/"2026-05-01""#])
            #expect(repaired.changes.count == 1, "\(repaired.changes)")
        }
    }

    @Test("Operators get the table, the number of rows and the reason", arguments: TestEngine.allCases)
    func operators(_ kind: TestEngine) async throws {
        try await Self.with(kind) { client, database in
            try await client.hasScanned()
            _ = try await client.get("/v1/records/days?limit=100")
            let count = Self.many + 3
            let problems = try await client.get("/readyz").json()["problems"]?.array.compactMap(\.text) ?? []
            #expect(problems.count == 1, "\(problems)")
            #expect(problems.first?.hasPrefix("At least \(count) rows of table “days” ") == true, "\(problems)")
            #expect(problems.first?.contains("column “day”") == true || kind == .sqlite, "\(problems)")
            #expect(try await client.metric("fieldmerge_unreadable_records") == count)
            let line = #"fieldmerge_unreadable_record{resource="days",table="days"} \#(count)"#
            #expect(try await client.get("/metrics").text.contains(line))
            let end = ContinuousClock.now + .seconds(30)
            try await database.run(Self.removal)
            #expect(try await database.run("SELECT COUNT(*) FROM days;") == "\(Self.days.count)\n")
            // A pass that has begun before may note the rows once more.
            var left = count
            while left > 0, ContinuousClock.now < end {
                _ = try await client.get("/v1/records/days?limit=100")
                left = try await client.metric("fieldmerge_unreadable_records")
            }
            #expect(try await client.get("/readyz").json()["problems"]?.array.isEmpty == true)
        }
    }
}
