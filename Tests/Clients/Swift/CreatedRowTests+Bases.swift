import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Bases from before the answer to a creation, whose record has changed again since that answer.
extension CreatedRowTests {
    /// Has another client change a record, and the store read it.
    private static func change(
        _ gateway: MemoryGateway, _ resource: String, _ id: JSONValue, for store: FieldMergeStore,
        _ body: (inout JSONValue) -> Void
    ) async throws {
        var record = try #require(gateway.record(resource, id))
        body(&record)
        gateway.put(record, in: resource, id: id)
        #expect(try await store.sync().isOK)
        #expect(try await store.record(resource, id)?.value == record)
    }

    /// Returns the changeset of each edit of the last request, by the id of its record.
    private static func lastChanges(_ gateway: MemoryGateway) throws -> [IDText: JSONValue] {
        let edits = (try lastPushes(gateway).arrayValue ?? []).flatMap { $0["edits"].arrayValue ?? [] }
        return Dictionary(edits.map { ($0["id"].key, $0["changeset"]) }) { first, _ in first }
    }

    @Test("Bases of two records of one push, of an item, and of a section have the values of their answers")
    func basesOfOnePush() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        var ids: [JSONValue] = []
        try await store.transaction { transaction in
            ids.append(
                try transaction.create("shoppers") {
                    $0["customer", "firstName"] = "Kim"
                    $0["groceries"].append(["name": "Rice"])
                    $0["card"] = [:]
                })
            ids.append(
                try transaction.create("shoppers") {
                    $0["customer", "firstName"] = "Lee"
                    $0["customer", "points"] = 8
                    $0["groceries"].append(["name": "Salt", "quantity": "2"])
                    $0["groceries"].append(["name": "Oil"])
                })
        }
        var bases: [Record] = []
        for id in ids { bases.append(try #require(try await store.record("shoppers", id))) }
        #expect(try await store.sync().isOK)
        for index in ids.indices {
            ids[index] = try #require(try await store.record("shoppers", ids[index])?.id)
            try await Self.change(gateway, "shoppers", ids[index], for: store) { record in
                record["customer"]["points"] = 9
                record["customer"]["county"] = "Essex"
                for index in 0..<record["groceries"].count { record["groceries"][index, "quantity"] = "7" }
                if !record["card"].isNull { record["card"]["number"] = "N9" }
            }
        }
        for base in bases {
            try await store.edit("shoppers", base.id, base: base) { edit in
                edit["customer", "points"] = 3
                edit["customer", "street"] = "2 High St"
                for index in 0..<edit["groceries"].count { edit["groceries", index, "quantity"] = "5" }
                if !edit["card"].isNull { edit["card", "number"] = "N5" }
            }
        }
        #expect(try await store.sync().isOK)
        let sent = try Self.lastChanges(gateway)
        let changes = try ids.map { id in try #require(sent[id.key]) }
        let (kim, lee) = (changes[0], changes[1])
        #expect(kim["customer"]["points"] == ["old": 5, "new": 3])
        #expect(kim["customer"]["address"]["old"] == ["street": nil, "county": "Kent", "postCode": nil])
        #expect(kim["groceries"][0]["item"]["old"] == ["name": "Rice", "quantity": "1"])
        #expect(kim["card"]["number"] == ["old": "N1", "new": "N5"])
        #expect(lee["customer"]["points"] == ["old": 8, "new": 3])
        #expect(lee["groceries"][0]["item"]["old"] == ["name": "Salt", "quantity": "2"])
        #expect(lee["groceries"][1]["item"]["old"] == ["name": "Oil", "quantity": "1"])
    }

    @Test("Bases of rows without a temporary id have the values in the answer to their creation")
    func basesOfRowsWithChosenIDs() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.create("orders", id: "A1") { $0["order", "customer"] = 123 }
        try await store.edit("shoppers", 123) { $0["card"] = [:] }
        let order = try #require(try await store.record("orders", "A1"))
        let shopper = try #require(try await store.record("shoppers", 123))
        #expect(try await store.sync().isOK)
        try await Self.change(gateway, "orders", "A1", for: store) { $0["order"]["note"] = "changed" }
        try await Self.change(gateway, "shoppers", 123, for: store) { $0["card"]["number"] = "N9" }
        try await store.edit("orders", "A1", base: order) { $0["order", "note"] = "mine" }
        try await store.edit("shoppers", 123, base: shopper) { $0["card", "number"] = "N5" }
        #expect(try await store.sync().isOK)
        let sent = try Self.lastChanges(gateway)
        #expect(sent[IDText("A1")]?["order"]["note"] == ["old": "none", "new": "mine"])
        #expect(sent[IDText("123")]?["card"]["number"] == ["old": "N1", "new": "N5"])
    }

    @Test("Two records with the same temporary id have a base each")
    func basesOfOneID() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        var id = JSONValue.null
        try await store.transaction { transaction in
            id = try transaction.create("shoppers") { $0["customer", "firstName"] = "Kim" }
            try transaction.create("orders", id: id) { $0["order", "customer"] = id }
        }
        let shopper = try #require(try await store.record("shoppers", id))
        let order = try #require(try await store.record("orders", id))
        #expect(try await store.sync().isOK)
        let real = try #require(try await store.record("shoppers", id)?.id)
        try await Self.change(gateway, "shoppers", real, for: store) { $0["customer"]["points"] = 9 }
        try await Self.change(gateway, "orders", real, for: store) { $0["order"]["note"] = "changed" }
        try await store.edit("shoppers", id, base: shopper) { $0["customer", "points"] = 3 }
        #expect(try await store.sync().isOK)
        #expect(try Self.lastChanges(gateway)[real.key]?["customer"]["points"] == ["old": 5, "new": 3])
        try await store.edit("orders", id, base: order) { $0["order", "note"] = "mine" }
        #expect(try await store.sync().isOK)
        #expect(try Self.lastChanges(gateway)[real.key]?["order"]["note"] == ["old": "none", "new": "mine"])
    }

    @Test("A section that was created after its record has a separate base")
    func laterSection() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        gateway.script.loseAnswer()
        #expect(try await store.sync().isOK == false)
        try await store.edit("shoppers", id) { $0["card"] = [:] }
        let base = try #require(try await store.record("shoppers", id))
        #expect(try await store.sync().isOK)
        let real = try #require(try await store.record("shoppers", id)?.id)
        try await Self.change(gateway, "shoppers", real, for: store) { record in
            record["customer"]["points"] = 9
            record["card"]["number"] = "N9"
        }
        try await store.edit("shoppers", id, base: base) { edit in
            edit["customer", "points"] = 3
            edit["card", "number"] = "N5"
        }
        #expect(try await store.sync().isOK)
        let sent = try #require(try Self.lastChanges(gateway)[real.key])
        #expect(sent["customer"]["points"] == ["old": 5, "new": 3])
        #expect(sent["card"]["number"] == ["old": "N1", "new": "N5"])
    }

    @Test("A base of one process has the values of an answer to another process")
    func otherProcess() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway, at: url)
        let other = try await memoryStore(gateway, at: url)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        let base = try #require(try await store.record("shoppers", id))
        let form = try await store.draft("shoppers", id)
        #expect(try await other.sync().isOK)
        let real = try #require(try await other.record("shoppers", id)?.id)
        try await Self.change(gateway, "shoppers", real, for: other) { $0["customer"]["points"] = 9 }
        form.record["customer", "street"] = "2 High St"
        try await form.save()
        try await store.edit("shoppers", id, base: base) { $0["customer", "points"] = 3 }
        #expect(try await other.sync().isOK)
        let sent = try Self.lastPushes(gateway).arrayValue?.map { $0["edits"][0]["changeset"]["customer"] } ?? []
        #expect(sent.first?["address"]["old"] == ["street": nil, "county": "Kent", "postCode": nil])
        #expect(sent.last?["points"] == ["old": 5, "new": 3])
        await store.close()
        await other.close()
    }

    @Test("The answer to a creation counts if it was refused and sent again")
    func resentCreation() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { edit in
            edit["customer", "firstName"] = "Kim"
            edit["groceries"].append(["name": "Rice"])
        }.id
        let base = try #require(try await store.record("shoppers", id))
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        #expect(try await store.refusedEdits().first?.resend() == true)
        #expect(try await store.sync().isOK)
        let real = try #require(try await store.record("shoppers", id)?.id)
        try await Self.change(gateway, "shoppers", real, for: store) { record in
            record["customer"]["points"] = 9
            record["groceries"][0, "quantity"] = "7"
        }
        try await store.edit("shoppers", id, base: base) { edit in
            edit["customer", "points"] = 3
            edit["groceries", 0, "quantity"] = "5"
        }
        #expect(try await store.sync().isOK)
        let sent = try #require(try Self.lastChanges(gateway)[real.key])
        #expect(sent["customer"]["points"] == ["old": 5, "new": 3])
        #expect(sent["groceries"][0]["item"]["old"] == ["name": "Rice", "quantity": "1"])
    }

    @Test("The old value of a field that rules add to a creation is null in its form")
    func addedField() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        let form = try await store.draft("shoppers", id)
        try await store.edit("shoppers", id) { $0["customer", "lastName"] = "Hill" }
        #expect(try await store.sync().isOK)
        form.record["customer", "lastName"] = "Hall"
        form.record["customer", "points"] = 3
        try await form.save()
        let conflicts = try await store.conflicts()
        #expect(conflicts.map(\.group) == ["lastName"] && conflicts[0].old.isNull && conflicts[0].current == "Hill")
        #expect(try await store.sync().isOK)
        let sent = try Self.lastPushes(gateway)[0]["edits"][0]["changeset"]["customer"]
        #expect(sent["lastName"] == ["old": nil, "new": "Hall"] && sent["points"] == ["old": 5, "new": 3])
    }

    @Test("A row that is deleted and created again has the values in the answer to its second creation")
    func secondCreation() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.create("orders", id: "A1") { $0["order", "customer"] = 123 }
        #expect(try await store.sync().isOK)
        try await Self.change(gateway, "orders", "A1", for: store) { $0["order"]["note"] = "changed" }
        try await store.delete("orders", "A1")
        gateway.script.loseAnswer()
        try await store.sync()
        try await store.create("orders", id: "A1") { $0["order", "customer"] = 124 }
        gateway.script.noNetwork()
        try await store.sync()
        let base = try #require(try await store.record("orders", "A1"))
        let form = try await store.draft("orders", "A1")
        await store.compareDrafts(nil)
        #expect(form.record["order", "note"].isNull)
        let early = try await store.edit("orders", "A1", base: base) { $0["order", "note"] = "early" }
        #expect(try await store.sync().isOK)
        #expect(await early.outcome.status == .merged)
        #expect(try Self.lastChanges(gateway)[IDText("A1")]?["order"]["note"] == ["old": "none", "new": "early"])
        #expect(form.record["order", "note"] == "none")
    }

    @Test("A new row without an answer has the values of the snapshot that contains it")
    func noAnswer() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.create("orders", id: "A1") { $0["order", "customer"] = 123 }
        let base = try #require(try await store.record("orders", "A1"))
        gateway.script.loseAnswer()
        try await store.sync()
        gateway.loseJournal(at: 0)
        #expect(try await store.sync().isOK)
        #expect(await store.status.unsent == 0)
        try await store.edit("orders", "A1", base: base) { $0["order", "note"] = "mine" }
        #expect(try await store.sync().isOK)
        #expect(try Self.lastChanges(gateway)[IDText("A1")]?["order"]["note"] == ["old": "none", "new": "mine"])
    }

    /// The rules with another name of a field.
    private static func renamedRules() throws -> JSONValue {
        var text = SharedCases.model["rules"].description
        text = text.replacingOccurrences(of: #""field":"county""#, with: #""formerly":["county"],"field":"region""#)
        text = text.replacingOccurrences(of: #""version":"r1""#, with: #""version":"r2""#)
        return try #require(JSONValue(text: text))
    }

    @Test("A field that is renamed before or after the answer has the value of the answer", arguments: [false, true])
    func aRenamedField(isAnswered: Bool) async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let id = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }.id
        let base = try #require(try await store.record("shoppers", id))
        let form = try await store.draft("shoppers", id)
        if isAnswered { #expect(try await store.sync().isOK) }
        gateway.change(rules: try Self.renamedRules()) { resource, record in
            guard resource == "shoppers" else { return record }
            var (record, row) = (record, record["customer"].objectValue ?? [:])
            row["region"] = row.removeValue(forKey: "county")
            record["customer"] = .object(row)
            return record
        }
        #expect(try await store.sync().isOK)
        let real = try #require(try await store.record("shoppers", id)?.id)
        try await Self.change(gateway, "shoppers", real, for: store) { $0["customer"]["region"] = "Essex" }
        try await store.edit("shoppers", id, base: base) { $0["customer", "street"] = "2 High St" }
        form.record["customer", "postCode"] = "CT9"
        try await form.save()
        #expect(try await store.sync().isOK)
        let pushes = try Self.lastPushes(gateway).arrayValue ?? []
        let sent = pushes.map { $0["edits"][0]["changeset"]["customer"]["address"] }
        let old: JSONValue = ["street": nil, "region": "Kent", "postCode": nil]
        #expect(
            sent == [
                ["old": old, "new": ["street": "2 High St", "region": "Kent", "postCode": nil]],
                ["old": old, "new": ["street": nil, "region": "Kent", "postCode": "CT9"]],
            ])
    }
}
