import FieldMergeTesting
import Foundation
import GRDB
import Synchronization
import Testing

@testable import FieldMergeClient

/// Random queries over random records, with and without indexes, are compared with a slow oracle.
///
/// Live queries are compared with new ones, while records change, indexes are built and fail, and stores are killed.
@Suite struct QueryWalkTests {
    static let indexed = ["orders": QueryOracle.fields.map(\.path) + ["id"]]
    static let searched = ["orders": ["order.title"]]

    @Test(.timeLimit(.minutes(10)), arguments: SharedCases.seeds(8)) func walk(seed: Int) async throws {
        let walk = try await QueryWalk(seed)
        for _ in 0..<25 { try await walk.takeStep() }
        await walk.close()
    }
}

/// Two openings of one store, and their server.
final class QueryWalk {
    typealias Follower = (
        question: QueryOracle.Question, iterator: LiveQuery.Iterator, live: LiveQuery, number: Int
    )

    let folder: TemporaryFolder
    let gateway: MemoryGateway
    let clock = ManualClock()
    let isIndexed: Bool
    var dice: SeededDice
    var store: FieldMergeStore
    var other: FieldMergeStore?
    var followers: [Follower] = []
    var isFaulty = false
    var lastID = 0

    init(_ seed: Int) async throws {
        folder = try TemporaryFolder()
        dice = SeededDice(seed)
        isIndexed = seed % 4 != 0
        var records: [JSONValue] = []
        for id in 1...60 { records.append(QueryOracle.record(id, &dice)) }
        lastID = 60
        gateway = try #require(
            MemoryGateway(rules: SharedCases.queries["rules"], records: ["orders": records], clock: clock))
        store = try await Self.open(gateway, folder, clock, isIndexed)
        #expect(try await store.sync().isOK)
        if dice.chance(0.5) { other = try await Self.open(gateway, folder, clock, isIndexed) }
        if dice.chance(0.5) { try await QueryTests.waitForIndexes(of: store) }
        follow()
    }

    static func open(
        _ gateway: MemoryGateway, _ folder: TemporaryFolder, _ clock: ManualClock, _ isIndexed: Bool
    ) async throws -> FieldMergeStore {
        try await memoryStore(
            gateway, at: folder.file("store.db"), clock: clock,
            indexes: isIndexed ? QueryWalkTests.indexed : [:], search: QueryWalkTests.searched)
    }

    private func follow() {
        followers = (0..<6).compactMap { _ in
            let question = QueryOracle.Question(&dice)
            guard let live = try? store.live(question.query) else { return nil }
            let iterator = live.makeAsyncIterator()
            return (question, iterator, live, iterator.window.number)
        }
        #expect(followers.count == 6)
    }

    func takeStep() async throws {
        let act = dice.pick(["edit", "edit", "edit", "other", "create", "delete", "put", "put", "sync", "trouble"])
        let changer = act == "other" ? other ?? store : store
        switch act {
        case "edit", "other": try await edit(changer)
        case "create":
            let names: Set = ["title", "amount", "planned"]
            let values = QueryOracle.fields.filter { names.contains($0.name) }.map {
                ($0.name, QueryOracle.value(of: $0, &dice))
            }
            try await store.create("orders") { edit in
                for (name, value) in values { edit["order", name] = value }
            }
        case "delete":
            let ids = try await store.records("orders").map(\.id)
            if let id = ids.randomElement(using: &dice) { try await store.delete("orders", id) }
        case "put":
            lastID += 1
            let id = dice.chance(0.3) ? lastID : Int.random(in: 1...60, using: &dice)
            gateway.put(dice.chance(0.15) ? nil : QueryOracle.record(id, &dice), in: "orders", id: id)
            try await store.sync()
        case "sync": try await store.sync()
        default: try await trouble()
        }
        if changer !== store { store.liveQueries.noteAny() }
        try await compare()
    }

    private func edit(_ store: FieldMergeStore) async throws {
        let field = dice.pick(QueryOracle.fields)
        var value = QueryOracle.value(of: field, &dice)
        // Another spelling of the same.
        if let spellings = field.values.first(where: { $0[0] == value }) { value = dice.pick(spellings) }
        guard let id = try await store.records("orders").map(\.id).randomElement(using: &dice) else { return }
        do {
            try await store.edit("orders", id) { edit in
                if field.isList {
                    edit["lines"].append(["article": value])
                } else {
                    edit[field.section, field.name] = value
                }
            }
        } catch is InvalidEdit {
            // Not each form may be written.
        }
    }

    private func trouble() async throws {
        switch dice.pick(["kill", "fault", "drop", "declare"]) {
        case "kill":
            store.context.observeSteps { _ in throw Killed() }
            store.file.close()
            store = try await Self.open(gateway, folder, clock, isIndexed)
            follow()
        case "fault":
            // Every other statement of the indexes fails from now on, or does not.
            isFaulty.toggle()
            let count = Mutex(0)
            let fails = isFaulty
            store.context.observeSteps { step in
                guard fails, step.contains("query_") || step.hasPrefix("index") else { return }
                if count.withLock({ count in
                    count += 1
                    return count % 5 == 0
                }) {
                    throw FaultTests.StorageFault()
                }
            }
        case "drop":
            let table = dice.pick(["query_stale", "query_index", "query_entry_1"])
            try await store.file.writer.write { db in try db.execute(sql: "DROP TABLE IF EXISTS \(table)") }
        default:
            let wanted = isIndexed ? ["orders": ["order.amount", "id"]] : nil
            let brief = try await memoryStore(
                gateway, at: folder.file("store.db"), clock: clock, indexes: wanted, search: nil)
            await brief.close()
        }
    }

    private func compare() async throws {
        let records = try await store.records("orders")
        for _ in 0..<4 {
            let question = QueryOracle.Question(&dice)
            let ids = question.ids(of: records)
            for store in [store, other].compactMap({ $0 }) {
                var query = question.query
                let count = try await store.count("orders", where: query.conditions, search: query.search)
                #expect(count == ids.count, "\(query)")
                var found: [JSONValue] = []
                var pages = 0
                repeat {
                    pages += 1
                    let page = try await store.query(query)
                    #expect(page.count <= query.limit ?? .max)
                    found += page.map(\.id)
                    query.after = page.next
                } while query.after != nil && pages < 4
                #expect(found == Array(query.after == nil ? ids[...] : ids.prefix(found.count)), "\(question.query)")
            }
        }
        for index in followers.indices {
            let (question, _, _, number) = followers[index]
            let fresh = try await store.query(question.query)
            let value = await store.liveQueries.value(of: number)
            #expect(value == fresh, "\(question.query)")
            #expect(fresh.map(\.id) == Array(question.ids(of: records).prefix(question.query.limit ?? .max)))
        }
    }

    func close() async {
        await store.close()
        await other?.close()
    }
}
