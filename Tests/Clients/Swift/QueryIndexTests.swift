import FieldMergeTesting
import Foundation
import GRDB
import Synchronization
import Testing

@testable import FieldMergeClient

/// Indexes that the random walks do not cover: their use, their end, and two openings.
@Suite(.timeLimit(.minutes(3))) struct QueryIndexTests {
    static let fields = ["orders": ["order.status", "order.amount", "id"]]
    static let search = ["orders": ["order.title"]]

    static func order(_ id: Int, _ status: String = "open") -> JSONValue {
        let amount = JSONValue.string("\(id).00")
        return [
            "id": .integer(Int128(id)), "lines": [], "delivery": nil,
            "order": ["title": .string("Order \(id)"), "status": .string(status), "amount": amount],
        ]
    }

    static func gateway(_ count: Int) throws -> MemoryGateway {
        let orders = (1...count).map { order($0, $0 % 10 == 0 ? "late" : "open") }
        return try #require(MemoryGateway(rules: SharedCases.queries["rules"], records: ["orders": orders]))
    }

    static func open(
        _ gateway: MemoryGateway, _ url: URL? = nil, fields: [String: [String]]? = fields,
        search: [String: [String]]? = search
    ) async throws -> FieldMergeStore {
        try await memoryStore(gateway, at: url, indexes: fields, search: search)
    }

    static func run(_ store: FieldMergeStore, _ query: RecordQuery) async throws -> QueryRun {
        try await store.file.read { ledger in
            let compiled = try #require(try ledger.compile(query))
            return try ledger.run(compiled, wanted: query.limit.map { $0 + 1 })
        }
    }

    @Test("A query reads few records if an index serves it")
    func use() async throws {
        let store = try await Self.open(Self.gateway(1_000))
        #expect(try await store.sync().isOK)
        try await QueryTests.waitForIndexes(of: store)
        func expect(_ query: RecordQuery, index: String?, read most: Int, count: Int) async throws {
            let run = try await Self.run(store, query)
            #expect(run.index == index && run.read <= most && run.rows.count == count, "\(query)")
        }
        try await expect(
            RecordQuery("orders", where: [.equals("order.status", "late")]), index: "order.status", read: 100,
            count: 100)
        try await expect(
            RecordQuery("orders", where: [.range("order.amount", from: "10", before: 20)], sort: ["order.title"]),
            index: "order.amount", read: 10, count: 10)
        try await expect(
            RecordQuery("orders", where: [.equals("order.status", "open")], sort: ["-order.amount"], limit: 5),
            index: "order.amount", read: 60, count: 6)
        try await expect(RecordQuery("orders", limit: 5), index: "id", read: 60, count: 6)
        try await expect(
            RecordQuery("orders", sort: ["order.status"], limit: 5), index: "order.status", read: 60, count: 6)
        try await expect(RecordQuery("orders", search: "77 ord"), index: "search", read: 11, count: 11)
        try await expect(
            RecordQuery("orders", where: [.equals("order.title", "Order 7")]), index: nil, read: 1_000, count: 1)
        // Deep in a value that many records have.
        let page = try await store.query("orders", sort: ["order.status"], limit: 900)
        let next = RecordQuery("orders", sort: ["order.status"], limit: 5, after: page.next)
        try await expect(next, index: "order.status", read: 60, count: 6)
        await store.close()
    }

    @Test("A store that is killed at any step of a build has right results, and builds on")
    func kills() async throws {
        for step in 1...1_000 {
            let folder = try TemporaryFolder()
            let url = folder.file("store.db")
            let gateway = try Self.gateway(5)
            var store = try await Self.open(gateway, url, fields: nil, search: nil)
            #expect(try await store.sync().isOK)
            await store.close()
            let left = Mutex(step)
            let context = LedgerContext(indexes: QueryIndexes(fields: Self.fields, search: Self.search))
            let file = try StoreFile(at: url, context: context, isSafe: false)
            context.observeSteps { _ in
                try left.withLock { left in
                    left -= 1
                    if left <= 0 { throw Killed() }
                }
            }
            let isKilled: Bool
            do {
                var claimed: String?
                while try await file.extendIndexes(&claimed) {}
                isKilled = false
            } catch is Killed { isKilled = true }
            file.close()
            store = try await Self.open(gateway, url)
            #expect(try await store.query("orders", sort: ["-order.amount"], limit: 3).map(\.id) == [5, 4, 3])
            try await QueryTests.waitForIndexes(of: store)
            let run = try await Self.run(store, RecordQuery("orders", sort: ["-order.amount"], limit: 2))
            #expect(run.index == "order.amount" && run.rows.map(\.record.id) == [5, 4, 3])
            await store.close()
            if !isKilled { return }
        }
        Issue.record("the build has more steps than this test")
    }

    @Test(
        "Edits, pages and queries outlive a damaged index, which is built again",
        arguments: ["stale", "index", "entry_1"])
    func damage(table: String) async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway(20)
        let store = try await Self.open(gateway, folder.file("store.db"))
        #expect(try await store.sync().isOK)
        try await QueryTests.waitForIndexes(of: store)
        try await store.file.writer.write { db in try db.execute(sql: "DROP TABLE query_\(table)") }
        #expect(try await store.count("orders", where: [.equals("order.status", "late")]) == 2)
        try await store.edit("orders", 1) { $0["order", "status"] = "late" }
        gateway.put(Self.order(2, "late"), in: "orders", id: 2)
        #expect(try await store.sync().isOK)
        #expect(try await store.count("orders", where: [.equals("order.status", "late")]) == 4)
        while try await Self.run(store, RecordQuery("orders", search: "2")).index == nil {
            _ = try await store.query("orders", search: "2")
            await Task.yield()
        }
        #expect(try await store.count("orders", where: [.equals("order.status", "late")]) == 4)
        await store.close()
    }

    @Test("A base that another program writes is found at once")
    func foreignWrites() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let store = try await Self.open(Self.gateway(20), url)
        #expect(try await store.sync().isOK)
        try await QueryTests.waitForIndexes(of: store)
        // For example an earlier version of this library, or the client for Python.
        let order = Self.order(3, "done").text
        try await DatabaseQueue(path: url.path).write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO base (resource, key, id, record) VALUES ('orders', '3', '3', ?)",
                arguments: [order])
            try db.execute(sql: "UPDATE base SET record = replace(record, 'open', 'done') WHERE key = '4'")
            try db.execute(sql: "DELETE FROM base WHERE key = '10'")
        }
        #expect(try await store.query("orders", where: [.equals("order.status", "done")]).map(\.id) == [3, 4])
        #expect(try await store.query("orders", where: [.equals("order.status", "late")]).map(\.id) == [20])
        await store.close()
    }

    @Test("Of two openings with other indexes the later one has its own, and both have right results")
    func twoOpenings() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let gateway = try Self.gateway(50)
        let one = try await Self.open(gateway, url)
        #expect(try await one.sync().isOK)
        try await QueryTests.waitForIndexes(of: one)
        let other = try await Self.open(gateway, url, fields: ["orders": ["order.status"]])
        let neutral = try await Self.open(gateway, url, fields: nil, search: nil)
        try await other.edit("orders", 1) { $0["order", "status"] = "late" }
        #expect(try await other.sync().isOK)
        try await QueryTests.waitForIndexes(of: other)
        let late = RecordQuery("orders", where: [.equals("order.status", "late")])
        for (store, index) in [(one, nil), (other, "order.status"), (neutral, nil)] {
            let run = try await Self.run(store, late)
            #expect(run.rows.map(\.record.id) == [1, 10, 20, 30, 40, 50] && run.index == index)
        }
        for store in [one, other, neutral] { await store.close() }
        let last = try await Self.open(gateway, url, fields: [:], search: nil)
        while try await last.file.read({ try $0.hasIndexTriggers() }) { await Task.yield() }
        #expect(try await last.count("orders", where: late.conditions) == 6)
        await last.close()
    }

    @Test("New rules rebuild the indexes by their types")
    func newRules() async throws {
        let gateway = try Self.gateway(30)
        let store = try await Self.open(gateway)
        #expect(try await store.sync().isOK)
        try await QueryTests.waitForIndexes(of: store)
        let query = RecordQuery("orders", where: [.range("order.amount", from: "3", before: "4")])
        #expect(try await Self.run(store, query).rows.map(\.record.id) == [3])
        var rules = SharedCases.queries["rules"]
        var orders = rules["resources"][0]
        var sections = orders["sections"].arrayValue ?? []
        var groups = sections[0]["groups"].arrayValue ?? []
        groups[2] = ["group": "amount", "onConflict": "client-wins", "fields": [["field": "amount", "type": "text"]]]
        sections[0]["groups"] = .array(groups)
        (orders["sections"], orders["shape"]) = (.array(sections), "s2")
        rules["resources"] = .array([orders] + (rules["resources"].arrayValue ?? []).dropFirst())
        rules["version"] = "r2"
        #expect(gateway.change(rules: rules))
        #expect(try await store.sync().isOK)
        #expect(try await store.file.read { try $0.rules()?.version } == "r2")
        try await QueryTests.waitForIndexes(of: store)
        while try await Self.run(store, query).index == nil { await Task.yield() }
        let found = try await Self.run(store, query).rows.map(\.record.id)
        #expect(found == [3, 30])
        await store.close()
    }
}
