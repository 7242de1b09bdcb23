import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Measures queries over `FIELDMERGE_SPEED` records, such as 100000, for runs by hand in a release build.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["FIELDMERGE_SPEED"] != nil))
struct QuerySpeedTests {
    private static let clock = ContinuousClock()

    private static func measured(_ name: String, times: Int = 20, _ body: () async throws -> Void) async throws {
        var taken: [Duration] = []
        for _ in 0..<times { taken.append(try await clock.measure(body)) }
        taken.sort()
        print("\(name): median \(taken[times / 2]), fastest \(taken[0]), slowest \(taken[times - 1])")
    }

    /// Makes a store of many records without an index.
    private static func load(_ count: Int, _ gateway: MemoryGateway, at url: URL) async throws {
        let store = try await QueryIndexTests.open(gateway, url, fields: nil, search: nil)
        #expect(try await store.sync().isOK)
        for part in 0..<count / 1_000 {
            _ = try await store.file.write("load") { ledger in
                for id in part * 1_000 + 1...(part + 1) * 1_000 {
                    var order = QueryIndexTests.order(id, ["open", "late", "done"][id % 3])
                    let hour = id * 7_919 % 100_003
                    let day = String(
                        format: "2026-%02d-%02dT%02d:00:00.000Z", hour / 672 % 12 + 1, hour / 24 % 28 + 1, hour % 24)
                    order["order"]["planned"] = .string(day)
                    for name in ["quantity", "serial", "due", "settings", "parent"] { order["order"][name] = .null }
                    order["lines"] = [
                        ["id": .integer(Int128(id)), "article": .integer(Int128(id % 500)), "note": nil]
                    ]
                    try ledger.put("orders", id: .integer(Int128(id)), order.objectValue, before: nil)
                }
            }
        }
        await store.close()
    }

    @Test func speed() async throws {
        let count = try #require(ProcessInfo.processInfo.environment["FIELDMERGE_SPEED"].flatMap { Int($0) })
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let gateway = try QueryIndexTests.gateway(1)
        try await Self.load(count, gateway, at: url)
        let fields = ["orders": ["order.status", "order.amount", "order.planned", "lines.article", "id"]]
        let options = FieldMergeStore.Options(
            server: try #require(URL(string: "http://server.test")), user: "test", client: nil, token: { "" },
            transport: gateway)
        let context = LedgerContext(indexes: QueryIndexes(fields: fields, search: QueryIndexTests.search))
        let begin = Self.clock.now
        let store = try await FieldMergeStore.open(at: url, context, options)
        print("open: \(Self.clock.now - begin)")
        try await Self.measured("edit while the index is built") {
            try await store.edit("orders", 5) { $0["order", "title"] = .string("\(Int.random(in: 0...9_999_999))") }
        }
        try await QueryTests.waitForIndexes(of: store)
        print("index of \(count) records: \(Self.clock.now - begin)")
        let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int
        print("file: \((size ?? 0) / 1_000_000) MB")
        try await Self.measureQueries(of: store)
        try await Self.measureLiveQueries(of: store)
        await store.close()
    }

    private static let isOpen = QueryCondition.equals("order.status", "open")

    private static func measureQueries(of store: FieldMergeStore) async throws {
        let queries = [
            "status and planned": RecordQuery(
                "orders", where: [isOpen], sort: ["-order.planned", "-id"], limit: 50),
            "amount in a range": RecordQuery("orders", where: [.range("order.amount", from: 700, before: 750)]),
            "article of a list and status": RecordQuery(
                "orders", where: [.equals("lines.article", 7), isOpen], sort: ["order.amount"], limit: 50),
            "search": RecordQuery("orders", search: "777 ord", limit: 50),
            "title without an index": RecordQuery(
                "orders", where: [.startsWith("order.title", "Order 9")], sort: ["order.title"], limit: 50),
        ]
        for (name, query) in queries.sorted(by: { $0.key < $1.key }) {
            try await measured("\(name), 50 rows", times: name.contains("without") ? 3 : 20) {
                let found = try await store.query(query)
                #expect(found.count >= 50)
            }
        }
        try await measured("count of a third", times: 3) {
            let found = try await store.count("orders", where: [isOpen])
            #expect(found > 1_000)
        }
    }

    private static func measureLiveQueries(of store: FieldMergeStore) async throws {
        var readers: [LiveQuery.Iterator] = []
        func add(_ query: RecordQuery) async throws {
            var reader = try store.live(query).makeAsyncIterator()
            _ = await reader.next(isolation: nil)
            readers.append(reader)
        }
        func settle() async {
            for reader in readers { _ = await reader.window.queries.value(of: reader.window.number) }
        }
        for limit in 50..<60 {
            try await add(RecordQuery("orders", where: [isOpen], sort: ["-order.planned"], limit: limit))
        }
        let listening = readers.map { reader in
            let (queries, number) = (store.liveQueries, reader.window.number)
            let bell = store.bells.subscribe(to: .resource("orders"))
            return Task { for await _ in bell { _ = await queries.value(of: number) } }
        }
        var number = 0
        try await measured("edit with ten live lists", times: 50) {
            number += 1
            try await store.edit("orders", number) { $0["order", "amount"] = .string("\(number).50") }
        }
        for task in listening { task.cancel() }
        for article in 0..<90 {
            try await add(RecordQuery("orders", where: [.equals("lines.article", .integer(Int128(article)))]))
        }
        await settle()
        try await measured("one remote change with 100 live queries", times: 50) {
            number += 1
            let (id, record) = (JSONValue.integer(Int128(number)), QueryIndexTests.order(number).objectValue)
            _ = try await store.write("page") { try $0.put("orders", id: id, record, before: nil) }
            await settle()
        }
    }
}
