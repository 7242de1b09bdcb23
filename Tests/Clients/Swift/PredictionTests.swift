import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Decisions as the gateway would make them, computed on the device.
@Suite struct PredictionTests {
    private static func predicted(
        base: [String: JSONValue], edited: [String: JSONValue], current: [String: JSONValue]
    ) async throws -> [String: Prediction] {
        let gateway = try StoreTests.gateway()
        func customer(_ values: [String: JSONValue]) throws -> JSONValue {
            var record = try #require(gateway.record("shoppers", 123))
            for (name, value) in values { record["customer"][name] = value }
            return record
        }
        gateway.put(try customer(base), in: "shoppers", id: 123)
        let store = try await StoreTests.synced(gateway)
        gateway.put(try customer(base.merging(current) { _, new in new }), in: "shoppers", id: 123)
        // The edit is made while the changes are on their way, so that it is overtaken before it is sent.
        gateway.script.hold { $0.path.hasPrefix("/v1/changes") }
        async let syncing = store.sync()
        let held = try #require(await gateway.script.nextHeld())
        try await store.edit("shoppers", 123) { edit in
            for (name, value) in edited { edit["customer", name] = value }
        }
        gateway.script.hold { _ in false }
        var body = Data()
        for try await part in try await gateway.send(held.request).body { body.append(part) }
        gateway.script.noNetwork()
        held.answer(try #require(JSONValue(text: String(decoding: body, as: UTF8.self))))
        _ = try await syncing
        let predictions = try await store.predictions("shoppers", 123)
        #expect(try await store.predictions() == predictions)
        gateway.script.clearScript()
        try await store.sync()
        let record = try #require(await store.record("shoppers", 123))
        for one in predictions where one.outcome != "rejected" {
            #expect(record["customer", one.group] == one.written, "the gateway decides the same of \(one.group)")
        }
        return Dictionary(uniqueKeysWithValues: predictions.map { ($0.group, $0) })
    }

    @Test("A group that no other client changed is predicted as applied")
    func applied() async throws {
        let told = try await Self.predicted(
            base: ["firstName": "Joe"], edited: ["firstName": "Bob"], current: ["lastName": "Hill"])
        #expect(told["firstName"]?.outcome == "applied")
        #expect(told["firstName"]?.isConflict == false)
        #expect(told["firstName"]?.written == "Bob")
    }

    @Test func sumsAndConflicts() async throws {
        let told = try await Self.predicted(
            base: ["points": 5, "firstName": "Joe"], edited: ["points": 6, "firstName": "Bob"],
            current: ["points": 9, "firstName": "Jim"])
        #expect(told["points"]?.outcome == "combined")
        #expect(told["points"]?.written == 10)
        #expect(told["firstName"]?.outcome == "client-won")
        #expect(told["firstName"]?.isConflict == true)
    }

    @Test("A forbidden transition is predicted as rejected")
    func transition() async throws {
        let told = try await Self.predicted(base: ["status": "closed"], edited: ["status": "open"], current: [:])
        #expect(told["status"]?.outcome == "rejected")
        #expect(told["status"]?.written == "closed")
    }
}
