import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Ids and names that differ only in their Unicode form: Swift's `String` equates them, the database does not.
@Suite(.timeLimit(.minutes(2))) struct UnicodeIDTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private static func order(_ id: String) -> JSONValue {
        ["id": .string(id), "order": ["customer": 123, "note": .string("of " + String(id.utf8.count))]]
    }

    /// The rules of the model; the items of a shopper have texts as keys.
    private static func rules() -> JSONValue {
        var rules = SharedCases.model["rules"]
        rules["resources"] = .array(
            (rules["resources"].arrayValue ?? []).map { resource in
                guard resource["resource"] == "shoppers" else { return resource }
                var changed = resource
                changed["sections"] = .array(
                    (resource["sections"].arrayValue ?? []).map { section in
                        guard section["section"] == "groceries" else { return section }
                        var changed = section
                        changed["key"] = [["column": "id", "type": "text", "generated": false]]
                        return changed
                    })
                return changed
            })
        return rules
    }

    private static func gateway() throws -> MemoryGateway {
        let base = SharedCases.model["base"].arrayValue ?? []
        var shopper = try #require(base.first { $0["id"] == 123 })["record"]
        shopper["groceries"] = .array(
            [composed, decomposed].map { id in
                ["id": .string(id), "name": .string("of " + String(id.utf8.count)), "quantity": "1", "aisle": nil]
            })
        return try #require(
            MemoryGateway(
                rules: rules(), records: ["shoppers": [shopper], "orders": [order(composed), order(decomposed)]]))
    }

    private static func note(_ gateway: MemoryGateway, _ id: String) -> String? {
        gateway.record("orders", id)?["order"]["note"].stringValue
    }

    @Test("Two records are read, and two edits of one transaction reach their own records")
    func twoRecords() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        #expect(try await store.records("orders").count == 2)
        _ = try await store.transaction { transaction in
            try transaction.edit("orders", Self.composed) { $0["order", "note"] = "a" }
            try transaction.edit("orders", Self.decomposed) { $0["order", "note"] = "b" }
        }
        #expect(try await store.sync().isOK)
        #expect(Self.note(gateway, Self.composed) == "a")
        #expect(Self.note(gateway, Self.decomposed) == "b")
    }

    @Test("A deletion in a transaction deletes its own record")
    func deletion() async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        _ = try await store.transaction { transaction in
            try transaction.edit("orders", Self.composed) { $0["order", "note"] = "a" }
            try transaction.delete("orders", Self.decomposed)
        }
        #expect(try await store.sync().isOK)
        #expect(Self.note(gateway, Self.composed) == "a")
        #expect(gateway.record("orders", Self.decomposed) == nil)
    }

    @Test("An item of a list is removed, and the other item is kept", arguments: [0, 1])
    func removedItem(_ removed: Int) async throws {
        let gateway = try Self.gateway()
        let store = try await StoreTests.synced(gateway)
        let ticket = try await store.edit("shoppers", 123) { shopper in
            var items = shopper["groceries"].arrayValue ?? []
            items.remove(at: removed)
            shopper["groceries"] = .array(items)
        }
        #expect(try await store.sync().isOK)
        #expect(await ticket.outcome.status == .merged)
        let left = gateway.record("shoppers", 123)?["groceries"].arrayValue ?? []
        let kept = removed == 0 ? Self.decomposed : Self.composed
        #expect(left.map(\.["id"]) == [.string(kept)])
        #expect(left.first?["name"] == .string("of " + String(kept.utf8.count)))
    }

    @Test("Objects are equal only if their members have the same names")
    func objects() {
        #expect(JSONValue.object([Self.composed: 1]) != .object([Self.decomposed: 1]))
        #expect(JSONValue.object([Self.composed: 1]) == .object([Self.composed: 1]))
    }

    @Test("An object with two names that a dictionary cannot contain is not read")
    func twoNames() {
        #expect(JSONValue(text: #"{"\#(Self.composed)": 1, "\#(Self.decomposed)": 2}"#) == nil)
        #expect(JSONValue(text: #"{"a": 1, "a": 2}"#) == ["a": 2])
    }
}
