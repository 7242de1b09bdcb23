import FieldMergeTesting
import Foundation
import Observation
import Testing

@testable import FieldMergeClient

/// Live queries that the shared cases do not cover.
@Suite(.timeLimit(.minutes(2))) struct LiveQueryTests {
    private static let late: [QueryCondition] = [.equals("order.status", "late")]

    private static func synced(_ gateway: MemoryGateway) async throws -> FieldMergeStore {
        let store = try await QueryIndexTests.open(gateway)
        #expect(try await store.sync().isOK)
        return store
    }

    private static func diagnosed(_ store: FieldMergeStore) async throws -> [JSONValue] {
        try await store.diagnose()["live"].arrayValue ?? []
    }

    @Test("A slow reader gets the latest result, and a reader that has ended costs nothing")
    func readers() async throws {
        let store = try await Self.synced(QueryIndexTests.gateway(20))
        var reader = try store.live("orders", where: Self.late).makeAsyncIterator()
        #expect(await reader.next(isolation: nil)?.map(\.id) == [10, 20])
        for id in [1, 2, 3] { try await store.edit("orders", id) { $0["order", "status"] = "late" } }
        #expect(await reader.next(isolation: nil)?.map(\.id) == [1, 2, 3, 10, 20])
        let busy = Task { [live = try store.live("orders")] in for await _ in live {} }
        while try await Self.diagnosed(store).count < 2 { await Task.yield() }
        busy.cancel()
        await busy.value
        #expect(try await Self.diagnosed(store).map { $0["runs"] } == [1])
        await store.close()
        #expect(await reader.next(isolation: nil) == nil)
    }

    @Test("A change costs each live query of its resource one test, and no run")
    func bound() async throws {
        let gateway = try QueryIndexTests.gateway(200)
        let store = try await Self.synced(gateway)
        var readers: [LiveQuery.Iterator] = []
        for limit in 1...10 {
            let lists = [
                try store.live("orders", where: Self.late, limit: limit),
                try store.live("orders", sort: ["-id"], limit: limit),
            ]
            for live in lists {
                var reader = live.makeAsyncIterator()
                #expect(await reader.next(isolation: nil)?.count == limit)
                readers.append(reader)
            }
        }
        let people = try store.live("people").makeAsyncIterator()
        for step in 0..<50 {
            if step % 2 == 0 {
                try await store.edit("orders", step + 1) { $0["order", "title"] = .string("Title \(step)") }
            } else {
                try await store.file.write("lease") { _ = try $0.takeLease() }.0
                _ = try await store.write("page") { ledger in
                    try ledger.put(
                        "orders", id: .integer(Int128(step)),
                        QueryIndexTests.order(step, step % 3 == 0 ? "late" : "open").objectValue, before: nil)
                }
            }
            for reader in readers { _ = await reader.window.queries.value(of: reader.window.number) }
        }
        for told in try await Self.diagnosed(store) where told["resource"] == "orders" {
            #expect(told["tests"] == 50 && told["runs"].intValue ?? 9 <= 2, "\(told)")
        }
        withExtendedLifetime(people) {}
        await store.close()
    }

    @Test("Records that change after a window do not enter it while its rows leave")
    func drainedWindow() async throws {
        let store = try await Self.synced(QueryIndexTests.gateway(80))
        let query = RecordQuery("orders", sort: ["-id"], limit: 2)
        let reader = try store.live(query).makeAsyncIterator()
        #expect(await store.liveQueries.value(of: reader.window.number)?.map(\.id) == [80, 79])
        for id in 1...10 { try await store.edit("orders", id) { $0["order", "status"] = "done" } }
        for id in stride(from: 80, to: 30, by: -1) {
            try await store.delete("orders", id)
            let value = await store.liveQueries.value(of: reader.window.number)
            #expect(value?.map(\.id) == [.integer(Int128(id - 1)), .integer(Int128(id - 2))])
        }
        #expect(store.liveQueries.diagnosis(of: reader.window.number)["runs"].intValue ?? 9 <= 4)
        await store.close()
    }

    @Test("A query that fails under new rules keeps its value, and runs again under the next ones")
    func rules() async throws {
        let gateway = try QueryIndexTests.gateway(20)
        let store = try await Self.synced(gateway)
        let reader = try store.live("orders", where: Self.late).makeAsyncIterator()
        let number = reader.window.number
        #expect(await store.liveQueries.value(of: number)?.count == 2)
        let rules = SharedCases.queries["rules"]
        let renamed = try #require(
            JSONValue(text: rules.text.replacingOccurrences(of: "\"status\"", with: "\"state\"")))
        var (next, last) = (renamed, rules)
        (next["version"], last["version"]) = ("r2", "r3")
        #expect(gateway.change(rules: next))
        #expect(try await store.sync().isOK)
        #expect(await store.liveQueries.value(of: number)?.count == 2)
        #expect(gateway.change(rules: last))
        gateway.put(QueryIndexTests.order(1, "late"), in: "orders", id: 1)
        #expect(try await store.sync().isOK)
        #expect(await store.liveQueries.value(of: number)?.map(\.id) == [1, 10, 20])
        await store.close()
    }

    @Test("Faults in a query are errors at once")
    func faults() async throws {
        let store = try await Self.synced(QueryIndexTests.gateway(2))
        #expect(throws: InvalidQuery.self) { try store.live("orders", sort: ["order.stats"]) }
        let error = await #expect(throws: InvalidQuery.self) {
            try await store.query("orders", where: [.not(.range("order.amount"))])
        }
        #expect(error?.description == "order.amount: the range needs “from” or “before”")
        await store.close()
    }

    @MainActor final class Model {
        @FetchRecords var late: QueryResult
        @FetchRecord var first: Record?

        init(_ store: FieldMergeStore) {
            _late = FetchRecords(RecordQuery("orders", where: LiveQueryTests.late), in: store)
            _first = FetchRecord("orders", 1, in: store)
        }
    }

    @Test("A model with property wrappers is observed") @MainActor
    func wrappers() async throws {
        let store = try await Self.synced(QueryIndexTests.gateway(20))
        let model = Model(store)
        func wait(_ isDone: () -> Bool) async {
            while !isDone() {
                await withCheckedContinuation { continuation in
                    withObservationTracking {
                        _ = (model.late, model.first)
                    } onChange: {
                        continuation.resume()
                    }
                }
            }
        }
        await wait { model.late.count == 2 && model.first != nil }
        #expect(model.$late.isLoaded && model.$late.error == nil)
        try await store.edit("orders", 1) { $0["order", "status"] = "late" }
        await wait { model.late.map(\.id) == [1, 10, 20] && model.first?["order", "status"] == "late" }
        let wrong = FetchRecords(RecordQuery("ordres"), in: store)
        #expect((wrong.projectedValue.error as? InvalidQuery)?.nearest == "orders")
        await store.close()
    }
}
