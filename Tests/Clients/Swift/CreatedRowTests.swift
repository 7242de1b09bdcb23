import FieldMergeTesting
import Foundation
import GRDB
import Synchronization
import Testing

@testable import FieldMergeClient

/// Edits of rows whose creation has no answer yet, of fields that it leaves to the database.
@Suite(.timeLimit(.minutes(2))) struct CreatedRowTests {
    private static let defaults: [String: [String: JSONObject]] = [
        "shoppers": [
            "customer": ["points": 5, "county": "Kent", "region": "Kent"], "groceries": ["quantity": "1"],
            "card": ["number": "N1"],
        ],
        "orders": ["order": ["note": "none"]],
    ]

    static func gateway() throws -> MemoryGateway {
        let records = (SharedCases.model["base"].arrayValue ?? []).reduce(into: [String: [JSONValue]]()) {
            $0[$1["resource"].stringValue ?? "", default: []].append($1["record"])
        }
        return try #require(
            MemoryGateway(rules: SharedCases.model["rules"], records: records, defaults: defaults))
    }

    /// The pushes of the last request that had some.
    static func lastPushes(_ gateway: MemoryGateway) throws -> JSONValue {
        let bodies = gateway.script.requests.filter { $0.path.hasPrefix("/v1/sync") }.map { request in
            JSONValue(text: String(decoding: request.body ?? Data(), as: UTF8.self)) ?? .null
        }
        return try #require(bodies.last)["pushes"]
    }

    private static func made(_ gateway: MemoryGateway) throws -> JSONValue {
        try #require(gateway.records("shoppers").first { ($0["id"].intValue ?? 0) > 1_000 })
    }

    /// Makes a record whose creation arrives while its answer does not.
    private static func created(_ gateway: MemoryGateway, at url: URL? = nil) async throws -> (
        store: FieldMergeStore, id: JSONValue
    ) {
        let store = try await StoreTests.synced(gateway, at: url)
        let ticket = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }
        gateway.script.loseAnswer()
        #expect(try await store.sync().isOK == false)
        #expect(gateway.runs.count == 1)
        return (store, ticket.id)
    }

    @Test("An edit after a lost answer has the values that the database filled in")
    func lostAnswer() async throws {
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway)
        let ticket = try await store.edit("shoppers", id) { $0["customer", "points"] = 3 }
        #expect(try await store.record("shoppers", id)?["customer", "points"] == 3)
        #expect(try await store.record("shoppers", id)?["customer", "county"].isNull == true)
        #expect(try await store.sync().isOK)
        let edit = try Self.lastPushes(gateway)[0]["edits"][0]
        #expect(edit["changeset"]["customer"]["points"] == ["old": 5, "new": 3])
        #expect(await ticket.outcome.status == .merged)
        #expect(try Self.made(gateway)["customer"]["points"] == 3)
        #expect(try await store.refusedEdits().isEmpty)
    }

    @Test("A group of several fields keeps the unchanged ones")
    func groupOfFields() async throws {
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway)
        try await store.edit("shoppers", id) { $0["customer", "street"] = "2 High St" }
        try await store.edit("shoppers", id) { $0["customer", "postCode"] = "CT2" }
        #expect(try await store.record("shoppers", id)?["customer", "street"] == "2 High St")
        #expect(try await store.sync().isOK)
        let address = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["address"]
        #expect(address["old"] == ["street": nil, "county": "Kent", "postCode": nil])
        #expect(address["new"] == ["street": "2 High St", "county": "Kent", "postCode": "CT2"])
    }

    @Test("A value that the creation named is the old value of the next edit")
    func valueOfCreation() async throws {
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway)
        try await store.edit("shoppers", id) { $0["customer", "firstName"] = "Kit" }
        let stored = try await store.file.read { try $0.edits("p.state = 0", []).map(\.changes) }
        #expect(stored.map(\.hasUnknown) == [false])
        #expect(try await store.sync().isOK)
        #expect(
            try Self.lastPushes(gateway)[1]["edits"][0]["changeset"]["customer"]
                == ["firstName": ["old": "Kim", "new": "Kit"]])
    }

    @Test("A transaction after a creation waits for its answer")
    func transaction() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let ticket = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }
        let both = try await store.transaction { transaction in
            try transaction.edit("shoppers", ticket.id) { $0["customer", "points"] = 3 }
            try transaction.edit("shoppers", 123) { $0["customer", "points"] = 7 }
        }
        #expect(try await store.sync().isOK)
        #expect(await both.outcome.status == .merged)
        #expect(await store.status.unsent == 0)
        #expect(try Self.made(gateway)["customer"]["points"] == 3)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 7)
    }

    @Test("The old value is the one in the answer to the creation, not a later one")
    func laterValue() async throws {
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway)
        try await store.edit("shoppers", id) { $0["customer", "points"] = 3 }
        var record = try Self.made(gateway)
        record["customer"]["points"] = 9
        gateway.put(record, in: "shoppers", id: record["id"])
        #expect(try await store.sync().isOK)
        // The answer to the creation was 5. Another user added 4, and this edit subtracted 2.
        #expect(try Self.made(gateway)["customer"]["points"] == 7)
        let told = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["points"]
        #expect(told == ["old": 5, "new": 3])
    }

    @Test("An edit of a new item of an existing record has the reported values as old")
    func newItem() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 124) { $0["groceries"].append(["name": "Rice"]) }
        gateway.script.loseAnswer()
        try await store.sync()
        try await store.edit("shoppers", 124) { $0["groceries", 0, "name"] = "Brown rice" }
        try await store.edit("shoppers", 124) { $0["groceries", 0, "aisle"] = 5 }
        #expect(try await store.sync().isOK)
        let item = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["groceries"][0]
        #expect(item["item"]["old"] == ["name": "Rice", "quantity": "1"])
        #expect(item["item"]["new"] == ["name": "Brown rice", "quantity": "1"])
        #expect(item["aisle"] == ["old": nil, "new": 5])
        #expect(gateway.record("shoppers", 124)?["groceries"][0]["name"] == "Brown rice")
    }

    @Test("The old values of a form that opened before the answer to a creation are those that the database filled in")
    func earlierForm() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        let form = try await store.draft("shoppers", id)
        let events = store.beginReading(.overtaken)
        form.record["customer", "points"] = 3
        form.record["customer", "street"] = "2 High St"
        #expect(try await store.sync().isOK)
        #expect(form.record["customer", "county"] == "Kent")
        #expect(store.readers.withLock { $0[.overtaken]?.takeLive(events) } == nil)
        try await form.save()
        #expect(try await store.conflicts().isEmpty)
        #expect(try await store.sync().isOK)
        let sent = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]
        #expect(sent["points"] == ["old": 5, "new": 3])
        #expect(sent["address"]["old"] == ["street": nil, "county": "Kent", "postCode": nil])
        #expect(sent["address"]["new"] == ["street": "2 High St", "county": "Kent", "postCode": nil])
        form.record["customer", "points"] = 4
        try await form.save()
        #expect(try await store.sync().isOK)
        #expect(try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["points"] == ["old": 3, "new": 4])
    }

    @Test("A form that is saved before the answer to a creation has the answer's values at its next save")
    func savedForm() async throws {
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway)
        let form = try await store.draft("shoppers", id)
        form.record["customer", "points"] = 3
        try await form.save()
        #expect(try await store.sync().isOK)
        #expect(try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["points"] == ["old": 5, "new": 3])
        #expect(form.record["customer", "county"] == "Kent" && form.record["customer", "points"] == 3)
        form.record["customer", "points"] = 4
        form.record["customer", "county"] = nil
        try await form.save()
        #expect(try await store.sync().isOK)
        let sent = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]
        #expect(sent["points"] == ["old": 3, "new": 4])
        #expect(sent["address"]["old"]["county"] == "Kent" && sent["address"]["new"]["county"] == nil)
    }

    @Test("The old values of an item's form that opened before the answer are those that the database filled in")
    func formOfItem() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 124) { $0["groceries"].append(["name": "Rice"]) }
        let form = try await store.draft("shoppers", 124)
        #expect(try await store.sync().isOK)
        form.record["groceries", 0, "name"] = "Brown rice"
        try await form.save()
        #expect(try await store.sync().isOK)
        let item = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["groceries"][0]["item"]
        #expect(item["old"] == ["name": "Rice", "quantity": "1"])
        #expect(item["new"] == ["name": "Brown rice", "quantity": "1"])
    }

    @Test("The old values of an edit with an earlier base are those that the database filled in")
    func earlierBase() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        let base = try #require(try await store.record("shoppers", id))
        #expect(try await store.sync().isOK)
        try await store.edit("shoppers", id, base: base) { $0["customer", "points"] = 3 }
        #expect(try await store.conflicts().isEmpty)
        #expect(try await store.sync().isOK)
        #expect(try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["points"] == ["old": 5, "new": 3])
    }

    @Test("The old values of an edit that began before the answer are those that the database filled in")
    func earlierEdit() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        try await store.transaction { transaction in
            try transaction.edit("shoppers", id) { $0["customer", "points"] = 3 }
            #expect(try await store.sync().isOK)
        }
        #expect(try await store.sync().isOK)
        #expect(try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["points"] == ["old": 5, "new": 3])
    }

    @Test("A record can be deleted after its creation")
    func deletion() async throws {
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway)
        try await store.delete("shoppers", id)
        #expect(try await store.record("shoppers", id) == nil)
        #expect(try await store.sync().isOK)
        #expect(gateway.records("shoppers").count == 2)
        #expect(try await store.refusedEdits().isEmpty)
        let old = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]["old"]
        #expect(old["points"] == 5 && old["county"] == "Kent" && old["firstName"] == "Kim")
    }

    @Test("A restart between creation and edit changes nothing")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let gateway = try Self.gateway()
        let (store, id) = try await Self.created(gateway, at: url)
        try await store.edit("shoppers", id) { $0["customer", "points"] = 3 }
        await store.close()
        let next = try await memoryStore(gateway, at: url)
        gateway.script.loseAnswer()
        #expect(try await next.sync().isOK == false)
        await next.close()
        let last = try await memoryStore(gateway, at: url)
        #expect(try await last.record("shoppers", id)?["customer", "points"] == 3)
        #expect(try await last.sync().isOK)
        #expect(gateway.runs.count == 2 && Set(gateway.runs).count == 2)
        #expect(try Self.made(gateway)["customer"]["points"] == 3)
        #expect(try await last.refusedEdits().isEmpty)
        await last.close()
    }

    @Test("The process may be killed at any step", arguments: 1...60)
    func kills(step: Int) async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let gateway = try Self.gateway()
        let clock = ManualClock()
        let store = try await memoryStore(gateway, at: url, clock: clock)
        #expect(try await store.sync().isOK)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        gateway.script.loseAnswer()
        try await store.sync()
        try await store.edit("shoppers", id) { $0["customer", "points"] = 3 }
        try await store.transaction { transaction in
            try transaction.edit("shoppers", id) { $0["customer", "street"] = "2 High St" }
            try transaction.edit("shoppers", 123) { $0["customer", "points"] = 7 }
        }
        let steps = StepsToLive(step)
        store.context.observeSteps { _ in try steps.take() }
        clock.advance(400)
        do { try await store.sync() } catch is Killed {}
        store.file.close()
        clock.advance(60)
        let next = try await memoryStore(gateway, at: url, clock: clock)
        #expect(try await next.sync().isOK)
        #expect(await next.status.unsent == 0)
        #expect(try await next.refusedEdits().isEmpty)
        #expect(Set(gateway.runs).count == gateway.runs.count)
        let record = try Self.made(gateway)
        #expect(record["customer"]["points"] == 3)
        #expect(record["customer"]["street"] == "2 High St" && record["customer"]["county"] == "Kent")
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 7)
        #expect(try await next.record("shoppers", record["id"])?.value == record)
        await next.close()
    }

    @Test("A refused creation refuses its edits, and restores them with it")
    func refusedCreation() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        gateway.script.noNetwork()
        try await store.sync()
        try await store.edit("shoppers", id) { $0["customer", "points"] = 3 }
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        var refused = try await store.refusedEdits()
        #expect(refused.map { $0.problem["code"] } == ["invalid-value", "depends-on-refused"])
        #expect(try await refused[0].resend())
        #expect(try await store.sync().isOK)
        #expect(try Self.made(gateway)["customer"]["points"] == 3)
        refused = try await store.refusedEdits()
        #expect(refused.isEmpty)
    }

    @Test("The queue continues if no answer contains the row")
    func invisibleRow() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 124) { $0["groceries"].append(["name": "Rice"]) }
        gateway.script.loseAnswer()
        try await store.sync()
        let lost = try await store.edit("shoppers", 124) { $0["groceries", 0, "name"] = "Brown rice" }
        let other = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        // The answer contains the record without the row, as a trigger could cause.
        gateway.script.add { request in
            let body = JSONValue(text: String(decoding: request.body ?? Data(), as: UTF8.self)) ?? .null
            let record = gateway.record("shoppers", 124).map { record in
                var record = record
                record["groceries"] = []
                return record
            }
            let push = body["pushes"][0]
            let made = push["edits"][0]["changeset"]["groceries"][0]["id"].stringValue ?? ""
            return Reply([
                "feed": body["feed"], "revision": body["since"], "more": false, "rules": "r1", "changes": [],
                "results": [
                    [
                        "key": push["key"], "status": "merged", "code": 200, "revision": nil,
                        "results": [
                            [
                                "resource": "shoppers", "id": 124, "status": "merged", "ids": [made: 1_001],
                                "outcomes": [], "record": record ?? .null,
                            ]
                        ],
                    ]
                ],
            ])
        }
        try await store.sync()
        #expect(await lost.outcome.status == .refused)
        #expect(await lost.outcome.problem?["code"] == "gone")
        #expect(await other.outcome.status == .merged)
        #expect(await store.status.unsent == 0)
    }

    @Test("Unknown values are stored as unknown")
    func unknownValues() throws {
        let change = RowChange(
            section: "customer", item: nil, step: .edit(["points": .init(old: [:], new: ["points": 3])]),
            unknown: ["points"])
        #expect(change.jsonValue["unknown"] == ["points"])
        #expect(RowChange(change.jsonValue) == change)
        let earlier: JSONValue = [
            "section": "customer", "do": "edit", "groups": ["points": ["old": ["points": 1], "new": ["points": 3]]],
        ]
        #expect(RowChange(earlier)?.unknown == [])
        #expect(RowChange(earlier)?.jsonValue == earlier)
    }
}

/// Ends a process after so many steps.
final class StepsToLive: Sendable {
    private let left: Mutex<Int>

    init(_ steps: Int) { left = Mutex(steps) }

    func take() throws {
        let isDead = left.withLock { left in
            left -= 1
            return left <= 0
        }
        if isDead { throw Killed() }
    }
}
