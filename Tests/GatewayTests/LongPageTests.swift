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

    @Test(arguments: TestEngine.allCases) func aLongPageIsManyShortOnes(_ kind: TestEngine) async throws {
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
                // The end of a page where a piece ends, and beside it.
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

    /// Faults before anything is sent have their status; later ones break the connection off, so that no client
    /// takes a part for the whole.
    @Test(arguments: TestEngine.allCases) func aPageThatFailsIsNeverWhole(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        try await RunningGateway.with(database, rules: MergeTests.rules) { configuration in
            configuration.merge.rowsPerRecord = 20
        } _: { gateway async throws in
            let many = (0..<30 * 150).map { "(\(450 + $0 / 150), 'More \($0)')" }.joined(separator: ",")
            try await database.run("INSERT INTO items (person, what) VALUES \(many);")
            try await gateway.client { client async throws in
                let answer = try await client.get("/v1/records/people?limit=20&after=449")
                #expect(answer.status == 413, "\(answer.text)")
            }
            await #expect(throws: (any Error).self) {
                try await gateway.client { client async throws in
                    let answer = try await client.get("/v1/records/people?limit=500")
                    Issue.record("\(answer.status) with \(answer.body.count) bytes")
                }
            }
        }
    }
}
