import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// The cases of queries and live queries that all clients share, each without indexes and with them.
@Suite(.timeLimit(.minutes(5))) struct QueryTests {
    static let queries = SharedCases.queries["queries"].arrayValue ?? []
    static let cases = SharedCases.queries["cases"].arrayValue ?? []

    /// Queries that this language has no words for.
    static let unspeakable: Set = [
        "an unknown option", "a limit that is no number", "an unknown member of a condition",
        "a condition without members",
    ]

    static func device(in folder: TemporaryFolder, _ isIndexed: Bool) async throws -> CaseDevice {
        func paths(_ name: String) -> [String: [String]] {
            (SharedCases.queries[name].objectValue ?? [:])
                .mapValues { $0.arrayValue?.compactMap(\.stringValue) ?? [] }
        }
        let declared = QueryIndexes(fields: isIndexed ? paths("indexes") : [:], search: paths("search"))
        let device = try await CaseDevice(.null, of: SharedCases.queries, at: folder.file("store.db"), declared)
        try await waitForIndexes(of: device.store)
        return device
    }

    static func waitForIndexes(of store: FieldMergeStore) async throws {
        while try await store.file.read({ ledger in
            let isDue = try ledger.number("SELECT 1 FROM sqlite_master WHERE name = 'query_index'") == nil
            return try isDue || ledger.hasStaleIndexes()
        }) { await Task.yield() }
    }

    @Test(arguments: [false, true]) func theQueries(isIndexed: Bool) async throws {
        let device = try await Self.device(in: TemporaryFolder(), isIndexed)
        for testCase in Self.queries where !Self.unspeakable.contains(testCase["name"].stringValue ?? "") {
            do { try await device.query(testCase) } catch { Issue.record("\(testCase["name"]): \(error)") }
        }
        await device.kill()
    }

    @Test(arguments: cases.indices, [false, true]) func theCase(_ index: Int, isIndexed: Bool) async throws {
        let testCase = Self.cases[index]
        let device = try await Self.device(in: TemporaryFolder(), isIndexed)
        for (number, step) in (testCase["steps"].arrayValue ?? []).enumerated() {
            do {
                try await device.run(step)
            } catch {
                Issue.record("\(testCase["name"]), step \(number), \(step): \(error)")
                break
            }
        }
        await device.kill()
    }

    @Test("The file has cases")
    func count() { #expect(Self.queries.count > 150 && Self.cases.count > 15) }
}
