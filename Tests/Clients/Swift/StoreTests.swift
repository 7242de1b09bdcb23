import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Behaviour for apps that the shared cases do not cover.
@Suite(.timeLimit(.minutes(2))) struct StoreTests {
    struct Address: Codable, Equatable {
        var street: String?
        var county: String?
        var postCode: String?
    }

    struct Customer: Codable, Equatable {
        var firstName: String
        var lastName: String?
        var street: String?
    }

    struct Item: Codable, Equatable {
        var id: Int?
        var name: String
        var quantity: String?
    }

    static func gateway() throws -> MemoryGateway {
        let base = SharedCases.model["base"].arrayValue ?? []
        var records: [String: [JSONValue]] = [:]
        for line in base { records[line["resource"].stringValue ?? "", default: []].append(line["record"]) }
        return try #require(MemoryGateway(rules: SharedCases.model["rules"], records: records))
    }

    static func synced(
        _ gateway: MemoryGateway, at url: URL? = nil, resources: [String]? = nil
    ) async throws -> FieldMergeStore {
        let store = try await memoryStore(gateway, at: url, resources: resources)
        #expect(try await store.sync().isOK)
        return store
    }

    @Test("Records can be read as groups")
    func groups() async throws {
        let store = try await Self.synced(Self.gateway())
        let record = try #require(await store.record("shoppers", 123))
        #expect(record["customer", "firstName"] == "Joe")
        #expect(record["customer", "address"] == ["street": "1 High St", "county": "Kent", "postCode": "CT1 1AA"])
        #expect(record["groceries", 0, "item"] == ["name": "Beans", "quantity": "1 tin"])
        #expect(record["groceries"].count == 2)
        #expect(record["card"].isNull)
        #expect(try await store.record("shoppers", "123") == record)
        #expect(try await store.record("shoppers", 9) == nil)
        #expect(try await store.records("shoppers").map(\.id) == [123, 124])
        await store.close()
        await #expect(throws: FieldMergeError.storeClosed) { try await store.record("shoppers", 123) }
    }

    @Test("Typed values are compared by group")
    func typedValues() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        let record = try #require(await store.record("shoppers", 123))
        var customer = try record.decode(Customer.self, section: "customer")
        #expect(customer == Customer(firstName: "Joe", lastName: "Shaw", street: "1 High St"))
        var items = try record.decode([Item].self, section: "groceries")
        customer.lastName = nil
        items[0].quantity = nil
        items.append(Item(name: "Rice"))
        let ticket = try await store.edit("shoppers", 123) { [customer, items] edit in
            try edit.replace(section: "customer", with: customer)
            try edit.replace(section: "groceries", with: items)
        }
        try await store.sync()
        let outcome = await ticket.outcome
        #expect(outcome.status == .merged)
        let sent = try #require(
            gateway.script.requests.last { $0.path.hasPrefix("/v1/sync") }.flatMap {
                JSONValue(text: String(decoding: $0.body ?? Data(), as: UTF8.self))
            })
        let changes = sent["pushes"][0]["edits"][0]["changeset"]
        #expect(changes["customer"] == ["lastName": ["old": "Shaw", "new": nil]])
        #expect(changes["groceries"].count == 2)
        #expect(changes["groceries"][0]["item"]["new"] == ["name": "Beans", "quantity": nil])
        #expect(changes["groceries"][1]["new"]["name"] == "Rice")
        #expect(gateway.record("shoppers", 123)?["customer"]["county"] == "Kent")
    }

    /// Edits, and returns `sent` of the push, which gets no answer.
    private static func sent(_ store: FieldMergeStore, _ gateway: MemoryGateway, _ points: Int) async throws -> String?
    {
        try await store.edit("shoppers", 123) { $0["customer", "points"] = .integer(Int128(points)) }
        gateway.script.noNetwork()
        try await store.sync()
        let body = gateway.script.requests.last?.body ?? Data()
        return JSONValue(text: String(decoding: body, as: UTF8.self))?["pushes"].arrayValue?.last?["sent"].stringValue
    }

    private static func answerRules(_ gateway: MemoryGateway, date: String?) {
        gateway.script.answer(SharedCases.model["rules"], headers: date.map { ["Date": $0] } ?? [:])
    }

    @Test("sent is the gateway's time, also after a restart")
    func sentIsTheGatewaysTime() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("store.db")
        let gateway = try Self.gateway()
        let clock = ManualClock(now: 5)
        var store = try await memoryStore(gateway, at: url, clock: clock)
        Self.answerRules(gateway, date: "Thu, 01 Jan 2026 00:00:00 GMT")
        #expect(try await store.sync().isOK)
        #expect(try await Self.sent(store, gateway, 101) == "2026-01-01T00:00:01.000Z")
        await store.close()
        clock.advance(7)
        store = try await memoryStore(gateway, at: url, clock: clock)
        #expect(try await Self.sent(store, gateway, 102) == "2026-01-01T00:00:08.000Z")
        await store.close()
    }

    @Test(
        "sent is the clock's time without a Date, and never earlier than the gateway's",
        arguments: [(nil, "00:05"), ("00:00:04", "00:05"), ("00:00:05", "00:06"), ("00:01:04", "01:05")])
    func sentIsTheClocksTime(date: String?, sent: String) async throws {
        let gateway = try Self.gateway()
        let store = try await memoryStore(gateway, clock: ManualClock(now: 5))
        Self.answerRules(gateway, date: date.map { "Thu, 01 Jan 1970 \($0) GMT" })
        #expect(try await store.sync().isOK)
        #expect(try await Self.sent(store, gateway, 101) == "1970-01-01T00:\(sent).000Z")
        await store.close()
    }

    @Test("An exception in a transaction stores nothing")
    func exception() async throws {
        let store = try await Self.synced(Self.gateway())
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await store.edit("shoppers", 123) { edit in
                edit["customer", "firstName"] = "Bob"
                throw Stop()
            }
        }
        await #expect(throws: FieldMergeError.recordNotFound(resource: "shoppers", id: 9)) {
            try await store.edit("shoppers", 9) { $0["customer", "firstName"] = "Bob" }
        }
        #expect(await store.status.unsent == 0)
        let error = await #expect(throws: InvalidEdit.self) {
            try await store.edit("shoppers", 123) { $0["customer", "adress"] = ["street": "x"] }
        }
        #expect(error?.path == "customer.adress")
    }

    @Test("Each event is delivered to all readers, one after the other")
    func events() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        func meet(_ name: String) async throws {
            var record = try #require(gateway.record("shoppers", 123))
            record["customer"]["firstName"] = .string("their \(name)")
            gateway.put(record, in: "shoppers", id: 123)
            try await store.edit("shoppers", 123) { $0["customer", "firstName"] = .string("my \(name)") }
            try await store.sync()
        }
        try await meet("first")
        try await meet("second")
        var firstReader = store.conflicts.makeAsyncIterator()
        #expect(await firstReader.next()?.new == "my first")
        var other = store.conflicts.makeAsyncIterator()
        #expect(await firstReader.next()?.new == "my second")
        try await meet("third")
        #expect(await other.next()?.new == "my second")
        #expect(await other.next()?.new == "my third")
        #expect(await firstReader.next()?.new == "my third")
        firstReader = store.conflicts.makeAsyncIterator()
        try await meet("fourth")
        other = store.conflicts.makeAsyncIterator()
        #expect(await other.next()?.new == "my fourth")
        await store.close()
        #expect(await other.next() == nil)
    }

    @Test("Conflicts have all four values and can be reverted")
    func conflicts() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 6 }
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["points"] = 9
        gateway.put(record, in: "shoppers", id: 123)
        try await store.sync()
        var conflicts = store.conflicts.makeAsyncIterator()
        let conflict = try #require(await conflicts.next())
        #expect([conflict.old, conflict.current, conflict.new, conflict.written] == [5, 9, 6, 10])
        #expect(conflict.group == "points")
        let ticket = try #require(await conflict.takeMine())
        try await store.sync()
        #expect(await ticket.outcome.status == .merged)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 6)
    }

    @Test("A handler can answer conflicts")
    func handler() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        let registration = try await store.onConflict { conflict in .string("both of \(conflict.current)") }
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["firstName"] = "Jim"
        gateway.put(record, in: "shoppers", id: 123)
        try await store.sync()
        // The sync does not wait for the handler's answer, which is a separate edit.
        var shoppers = try store.observe("shoppers", 123).makeAsyncIterator()
        while let shopper = await shoppers.next(), shopper?["customer", "firstName"] != "both of \"Jim\"" {}
        #expect(try await store.conflicts().isEmpty)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "both of \"Jim\"")
        await registration.end()
    }

    @Test("Repairs are stored together with the repaired edit")
    func repairs() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        let registration = store.beforeStore { change in
            guard change.resource == "shoppers", change.after?["customer", "lastName"].isNull == true else { return }
            try change.transaction.edit("shoppers", change.id) { $0["customer", "lastName"] = "unknown" }
        }
        var record = try #require(gateway.record("shoppers", 124))
        record["customer"]["lastName"] = nil
        gateway.put(record, in: "shoppers", id: 124)
        try await store.sync()
        #expect(gateway.record("shoppers", 124)?["customer"]["lastName"] == "unknown")
        await registration.end()
    }

    @Test("Observers get the current value and later ones")
    func observers() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        var records = try store.observe("shoppers", 123).makeAsyncIterator()
        var all = try store.observe("shoppers").makeAsyncIterator()
        #expect(await records.next()??["customer", "firstName"] == "Joe")
        #expect(await all.next()?.count == 2)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        #expect(await records.next()??["customer", "firstName"] == "Bob")
        try await store.delete("shoppers", 124)
        while let now = await all.next(), now.count != 1 {}
        try await store.sync()
        var statuses = store.statuses.makeAsyncIterator()
        #expect(await statuses.next()?.phase == .idle)
        await store.close()
    }

    @Test("A sign-out refuses to lose unsent edits, or sends them")
    func signOut() async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway, at: folder.file("store.db"))
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        let error = await #expect(throws: FieldMergeError.self) { try await store.signOut(unsent: .refuse) }
        #expect(error?.unsent == 1)
        gateway.script.noNetwork()
        await #expect(throws: FieldMergeError.unsentEdits(unsent: 1)) { try await store.signOut(unsent: .send) }
        try await store.signOut(unsent: .send)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Bob")
        #expect(!FileManager.default.fileExists(atPath: folder.file("store.db").path))
        #expect(await ticket.outcome.status == .merged)
        #expect(await store.status.phase == .closed)
    }

    @Test("A store belongs to one user, and its gateway may move")
    func aStoreBelongsToOneUser() async throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.db")
        var store = try await Self.synced(Self.gateway(), at: url)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        await store.close()
        await #expect(throws: FieldMergeError.self) {
            try await memoryStore(Self.gateway(), at: url, user: "another")
        }
        let options = FieldMergeStore.Options(
            server: try #require(URL(string: "https://proxy.test/shop")), user: "test", client: nil, token: { "test" },
            transport: try Self.gateway())
        store = try await FieldMergeStore.open(at: url, LedgerContext(clock: ManualClock()), options)
        #expect(await store.status.unsent == 1)
        #expect(try await store.sync().isOK)
        await store.close()
    }

    @Test("A store sends the user that the first answer named, also after a restart")
    func user() async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway()
        var store = try await memoryStore(gateway, at: folder.file("store.db"))
        gateway.script.answer(SharedCases.model["rules"], headers: ["X-Who": "anna%20b"])
        #expect(try await store.sync().isOK)
        await store.close()
        store = try await memoryStore(gateway, at: folder.file("store.db"))
        gateway.script.answer(["code": "other-who", "title": "x"], status: 401, headers: ["X-Who": "ben"])
        gateway.script.answer(["code": "other-who", "title": "x"], status: 401, headers: ["X-Who": "ben"])
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        #expect(try await store.sync().phase == .needsAuth)
        #expect(try await store.sync().isOK)
        #expect(await ticket.outcome.status == .merged)
        let sent = gateway.script.requests.map { $0.headers["X-Who"] }
        #expect(sent.first == .some(nil) && sent.dropFirst().allSatisfy { $0 == "anna%20b" })
        await store.close()
    }

    @Test("A number that JSON lacks is refused at edit(), also inside a value", arguments: [Double.nan, .infinity])
    func numbersThatJSONLacks(number: Double) async throws {
        let store = try await Self.synced(Self.gateway())
        for value in [JSONValue.double(number), ["a": [.double(number)]]] {
            let error = await #expect(throws: InvalidEdit.self) {
                try await store.edit("shoppers", 123) { $0["customer", "points"] = value }
            }
            #expect(error?.path == "customer.points")
        }
        #expect(await store.status.unsent == 0)
    }

    @Test("A record that a snapshot after a 410 does not contain is removed")
    func droppedRecord() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway)
        gateway.put(nil, in: "shoppers", id: 124)
        gateway.beginAnew()
        #expect(try await store.sync().isOK)
        var gone = store.gone.makeAsyncIterator()
        #expect(await gone.next()?.id == 124)
        #expect(try await store.record("shoppers", 124) == nil)
    }

    @Test("A deadline ends a sync in a valid state")
    func deadline() async throws {
        let gateway = try Self.gateway()
        let clock = ManualClock()
        let store = try await memoryStore(gateway.script, clock: clock)
        #expect(try await store.sync().isOK)
        gateway.script.hold()
        async let report = store.sync(deadline: .seconds(20))
        let held = try #require(await gateway.script.nextHeld())
        #expect(held.request.path.hasPrefix("/v1/changes"))
        clock.advance(30)
        #expect(try await report.error == "out of time")
        #expect(await store.status.phase == .idle)
        gateway.script.hold { _ in false }
        #expect(try await store.sync().isOK)
    }

    @Test("An expired token is requested once")
    func expiredToken() async throws {
        let gateway = try Self.gateway()
        let asked = Mutex(0)
        let store = try await memoryStore(gateway) {
            asked.withLock { $0 += 1 }
            return "token \(asked.withLock { $0 })"
        }
        #expect(try await store.sync().isOK)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        gateway.script.error(401, "no-token")
        #expect(try await store.sync().isOK)
        #expect(asked.withLock { $0 } == 2)
        gateway.script.error(401, "no-token")
        gateway.script.error(401, "no-token")
        let report = try await store.sync()
        #expect(report.phase == .needsAuth)
        #expect(try await store.sync().isOK)
    }

    @Test("Records outside the store are requested")
    func fetch() async throws {
        let gateway = try Self.gateway()
        let store = try await Self.synced(gateway, resources: ["aisles"])
        #expect(try await store.record("shoppers", 123)?["customer", "firstName"] == "Joe")
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        gateway.script.noNetwork()
        #expect(try await store.record("shoppers", 123)?["customer", "firstName"] == "Bob")
        await #expect(throws: FieldMergeError.self) { try await store.record("shoppers", 124) }
        gateway.script.clearScript()
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Bob")
    }

    @Test("The store syncs automatically")
    func automaticSync() async throws {
        let gateway = try Self.gateway()
        let store = try await memoryStore(gateway, clock: SystemClock())
        try await store.start()
        var statuses = store.statuses.makeAsyncIterator()
        while let status = await statuses.next(), status.revision == nil || status.phase != .idle {}
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        #expect(await ticket.outcome.status == .merged)
        await store.close()
    }

    @Test("The diagnostics contain no values")
    func diagnostics() async throws {
        let folder = try TemporaryFolder()
        let store = try await Self.synced(Self.gateway())
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Secret" }
        let told = try await store.diagnose()
        #expect(told["unsent"] == 1)
        #expect(told["records"] == ["aisles": 1, "shoppers": 2])
        #expect(!told.description.contains("Secret"))
        try await store.export(to: folder.file("all.ndjson"))
        let lines = try String(contentsOf: folder.file("all.ndjson"), encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.allSatisfy { JSONValue(text: String($0)) != nil })
        #expect(lines.contains { $0.contains("Secret") })
    }

    @Test("An opening during a sign-out waits, and gets a new store")
    func openedDuringASignOut() async throws {
        let folder = try TemporaryFolder()
        let gateway = try Self.gateway()
        let url = folder.file("store.db")
        let store = try await Self.synced(gateway, at: url)
        _ = try await store.file.write("sign out") { try $0.discardAll(policy: .discard) }
        let clock = ManualClock()
        async let opening = memoryStore(gateway, at: url, clock: clock)
        await clock.waitForSleeper()
        try store.file.remove()
        clock.advance(0.1)
        let other = try await opening
        #expect(await other.status.revision == nil)
        #expect(try await other.sync().isOK)
        try await other.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        #expect(try await other.sync().isOK)
        await other.close()
        let again = try await memoryStore(gateway, at: url)
        #expect(try await again.record("shoppers", 123)?["customer", "firstName"] == "Bob")
        await again.close()
    }
}
