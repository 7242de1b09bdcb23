import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// A subset on the device: the cases that all clients share, and the real gateway.
@Suite struct KeepTests {
    static let cases = SharedCases.keep["cases"].arrayValue ?? []

    @Test(.timeLimit(.minutes(2)), arguments: cases.indices)
    func theCase(_ index: Int) async throws {
        let folder = try TemporaryFolder()
        let testCase = Self.cases[index]
        let device = try await CaseDevice(testCase, of: SharedCases.keep, at: folder.file("store.db"))
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

    @Test("There are cases")
    func thereAreCases() { #expect(Self.cases.count > 20) }

    @Test("Conditions become the filter")
    func filter() throws {
        let keep: [String: [QueryCondition]] = [
            "orders": [.oneOf("order.status", ["open", .null]), .range("order.due", from: "2026-11-01")], "aisles": [],
        ]
        let expected = #"{"orders":{"order.due":{"from":"2026-11-01"},"order.status":["open",null]}}"#
        #expect(try SubsetFilter(keep: keep).value.text == expected)
        #expect(try SubsetFilter(keep: ["orders": []]).value.isNull)
        for wrong in [QueryCondition.startsWith("order.note", "A"), .not(.equals("order.note", "A"))] {
            let error = #expect(throws: InvalidQuery.self) { try SubsetFilter(keep: ["orders": [wrong]]) }
            #expect(error?.path == "keep.orders.order.note")
        }
        #expect(throws: InvalidQuery.self) {
            try SubsetFilter(keep: ["orders": [.equals("order.note", "A"), .equals("order.note", "B")]])
        }
    }
}

#if os(Linux) || os(macOS)
    /// The gateway filters.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltProgram.url != nil, "no gateway was built"))
    struct KeepGatewayTests {
        private static func opened(
            _ gateway: RealGateway, at url: URL = URL(fileURLWithPath: ":memory:"), keep: [QueryCondition] = []
        ) async throws -> FieldMergeStore {
            try await FieldMergeStore.open(
                at: url, server: gateway.url, user: "anna", resources: ["shoppers", "aisles"],
                keep: ["shoppers": keep]
            ) { "none" }
        }

        @Test("Another subset needs only the difference")
        func difference() async throws {
            let gateway = try await GatewayClientTests.gateway()
            let folder = try TemporaryFolder()
            let whole = try await Self.opened(gateway)
            #expect(try await whole.sync().isOK)
            let all = try await whole.records("shoppers")
            let kent = all.filter { $0["customer", "county"] == "Kent" }
            var store = try await Self.opened(
                gateway, at: folder.file("a.db"), keep: [.oneOf("customer.county", ["Kent"])])
            #expect(try await store.sync().isOK)
            #expect(try await store.records("shoppers").map(\.id) == kent.map(\.id))
            let (first, second) = (try #require(kent.first?.id), try #require(kent.dropFirst().first?.id))
            // Another device moves a record out of the filter while this one edits it.
            try await whole.edit("shoppers", first) {
                $0["customer", "address"] = ["street": "1 Mill Lane", "county": "Essex", "postCode": "CM1 1AA"]
            }
            #expect(try await whole.sync().isOK)
            let ticket = try await store.edit("shoppers", first) { $0["customer", "lastName"] = "Hill" }
            #expect(try await store.sync().isOK)
            #expect(await ticket.outcome.status == .merged)
            #expect(try await store.record("shoppers", first) == nil)
            try await store.edit("shoppers", second) { $0["customer", "lastName"] = "Dale" }
            await store.close()
            store = try await Self.opened(
                gateway, at: folder.file("a.db"), keep: [.equals("customer.county", "Essex")])
            let report = try await store.sync()
            #expect(report.isOK && report.changes < all.count)
            #expect(try await whole.sync().isOK)
            let essex = try await whole.records("shoppers").filter { $0["customer", "county"] == "Essex" }
            #expect(try await store.records("shoppers") == essex)
            #expect(try await whole.record("shoppers", second)?["customer", "lastName"] == "Dale")
            await store.close()
            store = try await Self.opened(gateway, at: folder.file("a.db"), keep: [.equals("customer.city", "Kent")])
            #expect(try await !store.sync().isOK)
            #expect(await store.status.problem?["path"] == "filter.shoppers.customer.city")
            #expect(try await store.records("shoppers") == essex)
            await store.close()
            store = try await Self.opened(gateway, at: folder.file("a.db"))
            #expect(try await store.sync().isOK)
            #expect(try await store.records("shoppers").count == all.count)
            for one in [store, whole] { await one.close() }
        }

        @Test("Rules without a field of the filter wait for another subset")
        func rules() async throws {
            let folder = try TemporaryFolder()
            let rules = folder.file("rules")
            try FileManager.default.copyItem(at: BuiltProgram.root.appendingPathComponent("MergeRules"), to: rules)
            let sql = try String(
                contentsOf: BuiltProgram.root.appendingPathComponent("Samples/shop/sqlite.sql"), encoding: .utf8)
            let gateway = try await RealGateway.start(
                program: try #require(BuiltProgram.url), rules: rules, sql: sql)
            var store = try await Self.opened(
                gateway, at: folder.file("a.db"), keep: [.range("customer.phone", from: "0", before: "1")])
            #expect(try await store.sync().isOK)
            let before = try await store.records("shoppers").map(\.id)
            let file = rules.appendingPathComponent("shoppers.yaml")
            let text = try String(contentsOf: file, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let left = lines.filter { !$0.contains(" phone: ") }
            try left.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            try await gateway.restart()
            let id = try #require(before.first)
            let ticket = try await store.edit("shoppers", id) { $0["customer", "lastName"] = "Hill" }
            for _ in 0..<3 { _ = try await store.sync() }
            #expect(await store.status.problem?["path"] == "filter.shoppers.customer.phone")
            #expect(try await store.records("shoppers").map(\.id) == before)
            await store.close()
            store = try await Self.opened(gateway, at: folder.file("a.db"), keep: [.equals("customer.county", "Kent")])
            for _ in 0..<3 { _ = try await store.sync() }
            let status = await store.status
            #expect(status.phase == .idle && status.unsent == 0 && status.refused == 0)
            #expect(try await store.ticket(ticket.token)?.outcome.status == .merged)
            #expect(try await store.records("shoppers").allSatisfy { $0["customer", "county"] == "Kent" })
            await store.close()
        }
    }
#endif
