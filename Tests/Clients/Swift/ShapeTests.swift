import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Rules that change while a store has records and edits of the earlier ones.
@Suite(.timeLimit(.minutes(2))) struct ShapeTests {
    /// The shared rules under another version, with a field more in the address, or without a resource.
    static func rules(_ version: String, adding field: String? = nil, without removed: String? = nil) -> JSONValue {
        var rules = SharedCases.model["rules"]
        rules["version"] = .string(version)
        let kept = (rules["resources"].arrayValue ?? []).filter { $0["resource"].stringValue != removed }
        rules["resources"] = .array(kept.map { field.map(adding)?($0) ?? $0 })
        return rules
    }

    private static func adding(_ field: String) -> (JSONValue) -> JSONValue {
        { resource in
            guard resource["resource"] == "shoppers" else { return resource }
            var resource = resource
            var sections = resource["sections"].arrayValue ?? []
            let groups = (sections[0]["groups"].arrayValue ?? []).map { group in
                var group = group
                if group["group"] == "address" {
                    group["fields"].append(["field": .string(field), "type": "text", "nullable": true])
                }
                return group
            }
            sections[0]["groups"] = .array(groups)
            resource["sections"] = .array(sections)
            resource["shape"] = nil
            return resource
        }
    }

    static func withCountry(_ resource: String, _ record: JSONValue) -> JSONValue {
        guard resource == "shoppers" else { return record }
        var record = record
        record["customer"]["country"] = "GB"
        return record
    }

    private static func snapshots(_ gateway: MemoryGateway) -> [String] {
        gateway.script.requests.map(\.path).filter { $0.hasPrefix("/v1/snapshot") }
    }

    @Test("Only records of another shape are fetched")
    func otherShapes() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 123) { $0["customer", "street"] = "2 Low St" }
        gateway.change(rules: Self.rules("r2", adding: "country"), Self.withCountry)
        #expect(try await store.sync().isOK)
        #expect(Self.snapshots(gateway).last == "/v1/snapshot?resources=shoppers")
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == "2 Low St")
        let record = try #require(await store.record("shoppers", 123))
        #expect(record.value("customer", "country") == "GB")
        #expect(try await store.refusedEdits().isEmpty)
        gateway.change(rules: Self.rules("r3", adding: "country"))
        #expect(try await store.sync().isOK)
        #expect(Self.snapshots(gateway).count == 2, "the shape is the same")
    }

    @Test("Records under rules that were never read are fetched again", arguments: [true, false])
    func skippedRules(byPush: Bool) async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        var record = try #require(gateway.record("shoppers", 124))
        record["customer"]["points"] = 50
        gateway.put(record, in: "shoppers", id: 124)
        if byPush {
            // Later rules also accept the push, so its answer has a record of another shape.
            try await store.edit("shoppers", 123) { $0["customer", "points"] = 9 }
            gateway.script.loseAnswer()
            try await store.sync()
        }
        gateway.change(rules: Self.rules("r2", adding: "country"), Self.withCountry)
        gateway.script.pass()  // the page, or the answer
        gateway.script.noNetwork()  // the rules
        #expect(try await store.sync().phase == .waiting)
        #expect(try await store.record("shoppers", 124)?.value("customer", "country") == "GB")
        // The earlier rules are back under another version, and their shape is that of the store.
        gateway.change(rules: Self.rules("r3")) { resource, record in
            guard resource == "shoppers", var members = record.objectValue else { return record }
            members["customer"] = .object((record["customer"].objectValue ?? [:]).filter { $0.key != "country" })
            return .object(members)
        }
        #expect(try await store.sync().isOK)
        #expect(try await store.records("shoppers").map(\.value) == [123, 124].map { gateway.record("shoppers", $0) })
    }

    @Test("Fetching another shape continues after an interruption and a restart", arguments: [300, 700, 1_100])
    func interruptedFetch(breakAt: Int) async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        for id in 1...6 {
            var record = try #require(gateway.record("shoppers", 124))
            record["id"] = .integer(Int128(id))
            gateway.put(record, in: "shoppers", id: id)
        }
        let clock = ManualClock()
        var store = try await memoryStore(gateway, at: folder.file("store.db"), clock: clock)
        #expect(try await store.sync().isOK)
        let place = try await store.file.read { try $0.feedPlace() }
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "street"] = "2 Low St" }
        gateway.change(rules: Self.rules("r2", adding: "country"), Self.withCountry)
        gateway.script.pass()
        gateway.script.pass()
        gateway.script.breakAnswer(at: breakAt)
        #expect(try await store.sync().phase == .waiting)
        #expect(try await store.record("shoppers", 123)?["customer", "street"] == "2 Low St")
        #expect(try await store.predictions().isEmpty)
        #expect(gateway.runs.isEmpty)
        await store.close()
        store = try await memoryStore(gateway, at: folder.file("store.db"), clock: clock)
        #expect(try await store.file.read { try $0.feedPlace() } == place)
        #expect(try await store.sync().isOK)
        #expect(try await store.ticket(ticket.token)?.outcomeSoFar?.status == .merged)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == "2 Low St")
        let held = try await store.records("shoppers").map(\.value)
        #expect(held.allSatisfy { $0["customer"]["country"] == "GB" })
        #expect(held.count == 8)
        #expect(try await store.refusedEdits().isEmpty)
    }

    @Test("Edits of a missing resource are refused with dependent edits, and the others are sent")
    func missingResource() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let aisle = try await store.create("aisles") { $0["aisle", "name"] = "Oils" }
        let item = try await store.edit("shoppers", 123) {
            $0["groceries"].append(["name": "Olive oil", "aisle": aisle.id])
        }
        let other = try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" }
        gateway.change(rules: Self.rules("r2", without: "aisles"))
        #expect(try await store.sync().isOK)
        #expect(await aisle.outcome.problem?["code"] == "field-removed")
        #expect(await item.outcome.problem?["code"] == "depends-on-refused")
        #expect(await other.outcome.status == .merged)
        let entry = try #require(await store.refusedEdits().first)
        #expect(entry.edits.first?.changeset["aisle"]["new"]["name"] == "Oils")
        await #expect(throws: InvalidEdit.self) { try await store.records("aisles") }
        #expect(try await store.file.read { try $0.number("SELECT count(*) FROM base WHERE resource = 'aisles'") } == 0)
        #expect(try await store.sync().isOK)
    }

    @Test("A missing kept resource does not stop the sync", arguments: [true, false])
    func missingKeptResource(hasEdit: Bool) async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway, resources: ["aisles", "shoppers"])
        if hasEdit { try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" } }
        gateway.change(rules: Self.rules("r2", without: "aisles"))
        // The request is refused for its resources, and then the push for its rules: the second try waits.
        if hasEdit { #expect(try await store.sync().phase == .waiting) }
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 124)?["customer"]["firstName"] == .string(hasEdit ? "Eve" : "Ann"))
        gateway.change(rules: Self.rules("r3"))
        #expect(try await store.sync().isOK)
        #expect(try await store.records("aisles").count == 1)
    }

    @Test("A field that the gateway does not send is unknown: it is never null, and never sent as null")
    func missingField() async throws {
        let gateway = try StoreTests.gateway()
        var record = try #require(gateway.record("shoppers", 123)).objectValue ?? [:]
        var customer = record["customer"]?.objectValue ?? [:]
        customer["county"] = .none
        record["customer"] = .object(customer)
        gateway.put(.object(record), in: "shoppers", id: 123)
        let store = try await StoreTests.synced(gateway)
        let held = try #require(await store.record("shoppers", 123))
        #expect(held.value("customer", "county") == .none)
        #expect(held["customer", "address"] == ["street": "1 High St", "postCode": "CT1 1AA"])
        let edit = try await store.edit("shoppers", 123) { $0["customer", "street"] = "2 Low St" }
        let other = try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" }
        #expect(try await store.sync().isOK)
        #expect(await edit.outcome.problem?["code"] == "unknown-value")
        #expect(await other.outcome.status == .merged)
        let deletion = try await store.delete("shoppers", 123)
        #expect(try await store.sync().isOK)
        #expect(await deletion.outcome.problem?["code"] == "unknown-value", "a deletion is not lost either")
    }
}
