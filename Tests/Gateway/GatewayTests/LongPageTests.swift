import MergeService
import Testing
import TestSupport

@testable import Gateway

/// Pages that are sent in pieces.
@Suite struct LongPageTests {
    private static let count = 500

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        let database = try await TestDatabase(kind, mariadb: MergeTests.mariadb, sqlite: MergeTests.sqlite)
        let people = (3...count).map { "(\($0), 'Name \($0)', 1)" }.joined(separator: ",")
        let items = (3...count).flatMap { id in (0..<id % 4).map { "(\(id), 'Thing \($0)')" } }.joined(separator: ",")
        try await database.run("INSERT INTO people (id, name, credit) VALUES \(people);")
        try await database.run("INSERT INTO items (person, what) VALUES \(items);")
        return database
    }

    @Test("A long page has the records of many short ones", arguments: TestEngine.allCases)
    func longPage(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        try await RunningGateway.with(database, rules: MergeTests.rules) { gateway async throws in
            try await gateway.client { client async throws in
                let whole = try await client.get("/v1/records/people?limit=500")
                #expect(whole.status == 200)
                #expect(whole.headers["transfer-encoding"] == "chunked")
                let page = try whole.json()
                #expect(page["records"]?.array.count == Self.count)
                #expect(page["next"]?.isNull == true)
                var records: [JSON] = []
                var next: String? = ""
                while let after = next {
                    let answer = try await client.get(
                        "/v1/records/people?limit=37" + (after.isEmpty ? "" : "&after=" + after))
                    #expect(answer.headers["content-length"] == String(answer.body.count))
                    records += try answer.json()["records"]?.array ?? []
                    next = try answer.json()["next"]?.text
                }
                #expect(records == page["records"]?.array)
                // The page ends at the end of a chunk, one before it, or one after it.
                for limit in [127, 128, 129, 256, 499] {
                    let part = try await client.get("/v1/records/people?limit=\(limit)").json()
                    #expect(part["records"]?.array == Array(records.prefix(limit)))
                    #expect(part["next"]?.text == String(limit))
                }
                let packed = try await client.get("/v1/records/people?limit=500", ["Accept-Encoding": "gzip"])
                #expect(packed.headers["content-encoding"] == "gzip")
                #expect(packed.body.count < whole.body.count / 3)
                #expect(try packed.body.withUnsafeBytes { try Gzip.unpack($0, limit: 1_000_000) } == whole.body)
            }
        }
    }

    /// A row without a key cannot be named, so it cannot be reported as unreadable.
    @Test("A page that fails after its beginning was sent is interrupted", .tags(.mariadb), .needsMariaDB)
    func failedPage() async throws {
        let rows = (1...400).map { "(\($0), '2001-01-01')" }.joined(separator: ", ")
        let database = try await TestDatabase(
            .mariadb,
            mariadb: "CREATE TABLE order_lines (n INT, day DATE); INSERT INTO order_lines VALUES \(rows);"
                + "SET sql_mode = 'ALLOW_INVALID_DATES'; UPDATE order_lines SET day = '2001-02-31' WHERE n = 390;",
            sqlite: "")
        let rules = [
            "lines.yaml":
                "resource: lines\nsections:\n  line: {table: order_lines, groups: {}, read-only: {n: n, day: day}}\n"
        ]
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(try await client.get("/v1/records/lines?limit=20&after=380").status >= 400)
            }
            await #expect(throws: (any Error).self) {
                try await gateway.client { client async throws in
                    let answer = try await client.get("/v1/records/lines?limit=500")
                    Issue.record("\(answer.status) with \(answer.body.count) bytes")
                }
            }
        }
    }
}
