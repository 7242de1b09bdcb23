import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Reports to an app about names, numbers, refusals, and a store after a sign-out.
@Suite(.timeLimit(.minutes(2))) struct TruthTests {
    // MARK: Signing out

    @Test("A refusal of an edit that was never sent counts as unsent")
    func neverSent() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let ticket = try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Bob" }
        gateway.put(nil, in: "shoppers", id: 124)
        gateway.script.noNetwork()
        try await store.sync()
        // A pull reports that the record is missing, before the edit is sent.
        _ = try await store.file.write("gone") { ledger in
            let place = RecordPlace(resource: "shoppers", key: IDText("124"))
            let before = try ledger.seen(place)
            try ledger.write("UPDATE push SET state = 0, key = NULL, body = NULL, doubt = 0")
            try ledger.put("shoppers", id: 124, nil, before: before, isPulled: true)
            try ledger.rebase(place, before: before, tellsGone: true, was: before)
        }
        #expect(await ticket.outcome.problem?["code"] == "gone")
        #expect(await store.status.unsent == 0)
        await #expect(throws: FieldMergeError.unsentEdits(unsent: 1)) { try await store.signOut() }
        #expect(try await store.refusedEdits().first?.discard() == true)
        try await store.signOut()
        #expect(await ticket.outcome.status == .discarded)
    }

    @Test("A plain 400 counts as unsent, a rejection does not")
    func plain400() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        #expect(await store.status.refused == 1)
        let error = await #expect(throws: FieldMergeError.self) { try await store.signOut() }
        #expect(error?.unsent == 1)
        #expect(try await store.refusedEdits().first?.discard() == true)

        var record = try #require(gateway.record("shoppers", 124))
        try await store.edit("shoppers", 124) { $0["customer", "status"] = "open" }
        record["customer"]["status"] = "closed"
        gateway.put(record, in: "shoppers", id: 124)
        try await store.sync()
        #expect(try await store.refusedEdits().first?.problem["code"] == "rejected")
        try await store.signOut()
    }

    @Test("Tickets report their outcome after a sign-out")
    func tickets() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let merged = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        let refused = try await store.edit("shoppers", 124) { $0["customer", "status"] = "open" }
        var record = try #require(gateway.record("shoppers", 124))
        record["customer"]["status"] = "closed"
        gateway.put(record, in: "shoppers", id: 124)
        async let waiting = merged.outcome
        try await store.signOut(unsent: .send)
        #expect(await waiting.status == .merged)
        #expect(await merged.outcome.record?["customer", "firstName"] == "Bob")
        #expect(await refused.outcome.status == .refused)
        #expect(await refused.outcome.problem?["code"] == "rejected")
    }

    @Test("Edits that a sign-out discards are reported as discarded")
    func discarded() async throws {
        let store = try await StoreTests.synced(StoreTests.gateway())
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        try await store.signOut(unsent: .discard)
        #expect(await ticket.outcome.status == .discarded)
    }

    // MARK: Counters that were overtaken

    /// Adds 1 to 6 points.
    ///
    /// Another user changes them to 10 while the push is sent.
    private static func overtaken(
        losing: Bool, refusing: Bool = false
    ) async throws -> (gateway: MemoryGateway, store: FieldMergeStore, event: Overtaken) {
        let gateway = try StoreTests.gateway()
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["points"] = 6
        gateway.put(record, in: "shoppers", id: 123)
        let store = try await StoreTests.synced(gateway)
        record["customer"]["points"] = 10
        gateway.put(record, in: "shoppers", id: 123)
        // The edit is made while the changes are on their way, so that it is overtaken before it is sent.
        gateway.script.hold { $0.path.hasPrefix("/v1/changes") }
        async let syncing = store.sync()
        let held = try #require(await gateway.script.nextHeld())
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 7 }
        gateway.script.hold { _ in false }
        var body = Data()
        for try await part in try await gateway.send(held.request).body { body.append(part) }
        if losing { gateway.script.loseAnswer() }
        if refusing { for _ in 0..<2 { gateway.script.error(400, "invalid-value") } }
        held.answer(try #require(JSONValue(text: String(decoding: body, as: UTF8.self))))
        _ = try await syncing
        var events = store.overtaken.makeAsyncIterator()
        return (gateway, store, try #require(await events.next()))
    }

    @Test("Choosing the other value of a counter undoes this client's addition", arguments: [true, false])
    func theirsOfCounter(isLost: Bool) async throws {
        let (gateway, store, event) = try await Self.overtaken(losing: isLost)
        #expect([event.old, event.current, event.new] == [6, 10, 7])
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 11)
        try await event.takeTheirs()
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 10)
        #expect(try await store.record("shoppers", 123)?["customer", "points"] == 10)
    }

    @Test("Choosing the other value of a refused edit undoes nothing")
    func theirsOfRefused() async throws {
        let (gateway, store, event) = try await Self.overtaken(losing: false, refusing: true)
        #expect(await store.status.refused == 1)
        try await event.takeTheirs()
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 10)
        #expect(await store.status.unsent == 0)
    }

    @Test("Choosing the other value keeps later edits")
    func laterEdits() async throws {
        let (gateway, store, event) = try await Self.overtaken(losing: true)
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 9 }
        try await event.takeTheirs()
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 12)
    }

    // MARK: Names

    @Test("Errors of unknown names contain the most similar name")
    func unknownNames() async throws {
        let gateway = try StoreTests.gateway()
        let fresh = try await memoryStore(gateway)
        #expect(try await fresh.record("shopers", 123) == nil, "the rules are not known yet")
        for kept in [nil, ["shoppers"]] {
            let store = try await StoreTests.synced(gateway, resources: kept)
            var error = await #expect(throws: InvalidEdit.self) { try await store.record("shopers", 123) }
            #expect(error?.nearest == "shoppers")
            error = await #expect(throws: InvalidEdit.self) { try await store.records("aisels") }
            #expect(error?.nearest == "aisles")
            error = #expect(throws: InvalidEdit.self) { try store.observe("shopers", 123) }
            #expect(error?.nearest == "shoppers")
            error = #expect(throws: InvalidEdit.self) { try store.observe("shopers") }
            error = await #expect(throws: InvalidEdit.self) { try await store.state("shopers", 123) }
            error = await #expect(throws: InvalidEdit.self) { try await store.state("shoppers", 123, "custmer") }
            #expect(error?.nearest == "customer")
            error = await #expect(throws: InvalidEdit.self) {
                try await store.state("shoppers", 123, "customer", "adress")
            }
            #expect(error?.nearest == "address" && error?.path == "customer.adress")
            #expect(try await store.state("shoppers", 123, "customer", "address") == .clean)
            #expect(try await store.record("aisles", 5)?["aisle", "name"] == "Tins")
        }
    }

    // MARK: Numbers

    @Test("Integers in strings are those of JSON")
    func wholeNumbers() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 123) { $0["customer", "points"] = "1.0" }
        #expect(try await store.record("shoppers", 123)?["customer", "points"] == 1)
        try await store.edit("shoppers", 123) { $0["customer", "points"] = "-12.00" }
        #expect(try await store.record("shoppers", 123)?["customer", "points"] == -12)
        try await store.edit("shoppers", 123) { $0["customer", "points"] = "7" }
        for text in ["007", "1e3", "+7", " 7", "7 ", "7.", ".0", "1.5", "", "-", "0x7", "7.0.0", "٧"] {
            let error = await #expect(throws: InvalidEdit.self, "\(text)") {
                try await store.edit("shoppers", 123) { $0["customer", "points"] = .string(text) }
            }
            #expect(error?.path == "customer.points")
        }
        #expect(try await store.record("shoppers", 123)?["customer", "points"] == 7)
    }

    // MARK: Refused creations

    /// A new aisle that the gateway refuses, and its id.
    private static func refusedAisle() async throws -> (gateway: MemoryGateway, store: FieldMergeStore, id: JSONValue) {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let aisle = try await store.create("aisles") { $0["aisle", "name"] = "Oils" }
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        #expect(await aisle.outcome.status == .refused)
        return (gateway, store, aisle.id)
    }

    @Test("A new edit of a refused creation is refused with it", arguments: [true, false])
    func editOfRefused(byChild: Bool) async throws {
        let (gateway, store, aisle) = try await Self.refusedAisle()
        let waiting = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        let child = try await store.edit("shoppers", 123) { $0["groceries", 0, "aisle"] = aisle }
        let outcome = await child.outcome
        #expect(outcome.status == .refused)
        #expect(outcome.problem?["code"] == "depends-on-refused")
        #expect(outcome.problem?["dependsOn"]["id"] == aisle)
        #expect(await waiting.outcomeSoFar == nil, "what waits has nothing to do with it")
        try await store.sync()
        #expect(await waiting.outcome.status == .merged)
        #expect(gateway.runs.count == 1)
        let entries = try await store.refusedEdits()
        #expect(entries.map { $0.problem["code"] } == ["invalid-value", "depends-on-refused"])
        #expect(try await entries[byChild ? 1 : 0].resend())
        #expect(try await store.refusedEdits().isEmpty)
        #expect(try await store.sync().isOK)
        #expect(await child.outcome.status == .merged)
        let made = try #require(gateway.records("aisles").first { $0["aisle"]["name"] == "Oils" })
        #expect(gateway.record("shoppers", 123)?["groceries"][0]["aisle"] == made["id"])
        #expect(await store.status.refused == 0)
    }

    @Test("An edit that uses two refused creations is restored with both")
    func twoRefused() async throws {
        let (gateway, store, first) = try await Self.refusedAisle()
        let second = try await store.create("aisles") { $0["aisle", "name"] = "Salts" }.id
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        let child = try await store.edit("shoppers", 123) { edit in
            edit["groceries", 0, "aisle"] = first
            edit["groceries", 1, "aisle"] = second
        }
        let entries = try await store.refusedEdits()
        #expect(entries.count == 3)
        #expect(try await entries[0].resend())
        #expect(try await store.refusedEdits().isEmpty)
        #expect(try await store.sync().isOK)
        #expect(await child.outcome.status == .merged)
        #expect(gateway.records("aisles").count == 3)
    }
}
