import FieldMergeTesting
import Foundation
import GRDB
import Synchronization
import Testing

@testable import FieldMergeClient

/// The requests, their order, and a disk that cannot be written.
@Suite(.timeLimit(.minutes(2))) struct SendingTests {
    /// Throws at every write while it is full, as a disk does.
    private final class FullDisk: Sendable {
        private let isFull = Mutex(false)
        private let code: ResultCode

        init(_ code: ResultCode = .SQLITE_FULL) { self.code = code }

        func fill(_ full: Bool = true) { isFull.withLock { $0 = full } }

        func take(_ step: String) throws {
            guard isFull.withLock({ $0 }), !step.contains(":") else { return }
            throw DatabaseError(resultCode: code)
        }
    }

    private static func keys(_ gateway: MemoryGateway) -> [String] {
        gateway.script.requests.filter { $0.path.hasPrefix("/v1/sync") }.flatMap { request in
            pushes(request).compactMap { $0["key"].stringValue }
        }
    }

    private static func pushes(_ request: TransportRequest) -> [JSONValue] {
        JSONValue(text: String(decoding: request.body ?? Data(), as: UTF8.self))?["pushes"].arrayValue ?? []
    }

    // MARK: A disk that is full

    @Test("Edits on a full disk are sent, and nothing is lost or doubled once it can be written")
    func aFullDisk() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let disk = FullDisk()
        store.context.observeSteps { try disk.take($0) }
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "points"] = 6 }
        disk.fill()
        for _ in 0..<2 { await #expect(throws: DatabaseError.self) { try await store.sync() } }
        #expect(await store.status.phase == .waiting)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 6)
        #expect(await ticket.outcomeSoFar == nil)
        await #expect(throws: FieldMergeError.self) {
            try await store.edit("shoppers", 123) { $0["customer", "points"] = 8 }
        }
        disk.fill(false)
        // An edit is not added to a push that was sent.
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 8 }
        #expect(try await store.sync().isOK)
        #expect(await ticket.outcome.status == .merged)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 8)
        #expect(gateway.runs.count == 2 && Set(gateway.runs).count == 2)
        #expect(await store.status.unsent == 0)
    }

    @Test("A push that was sent from a full disk keeps its bytes")
    func theBytesAreTheSame() async throws {
        let gateway = try StoreTests.gateway()
        let clock = ManualClock()
        let store = try await memoryStore(gateway, clock: clock)
        #expect(try await store.sync().isOK)
        let disk = FullDisk()
        store.context.observeSteps { try disk.take($0) }
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 6 }
        disk.fill()
        gateway.script.loseAnswer()
        try await store.sync()
        clock.advance(500)
        disk.fill(false)
        #expect(try await store.sync().isOK)
        let bodies = gateway.script.requests.filter { $0.path.hasPrefix("/v1/sync") }.map { Self.pushes($0).first }
        #expect(bodies.count == 2 && bodies[0] == bodies[1])
        #expect(gateway.runs.count == 1)
    }

    /// A store whose process was killed after it had sent an edit from a full disk.
    ///
    /// An edit of the next opening joins the push.
    private static func killedWithFullDisk(
        _ gateway: MemoryGateway, at url: URL, clock: ManualClock, isJoined: Bool
    ) async throws -> (store: FieldMergeStore, ticket: Ticket) {
        let first = try await memoryStore(gateway, at: url, clock: clock)
        #expect(try await first.sync().isOK)
        let disk = FullDisk()
        first.context.observeSteps { try disk.take($0) }
        let token = try await first.edit("shoppers", 123) {
            $0["customer", "firstName"] = "Bob"
            $0["customer", "points"] = 6
        }.token
        disk.fill()
        gateway.script.loseAnswer()
        try await first.sync()
        #expect(gateway.runs.count == 1)
        first.file.close()
        clock.advance(500)
        let next = try await memoryStore(gateway, at: url, clock: clock)
        if isJoined { try await next.edit("shoppers", 123) { $0["customer", "lastName"] = "Hill" } }
        return (next, try #require(try await next.ticket(token)))
    }

    @Test("A push that was sent from a full disk before a kill gets its answer")
    func aKillOnAFullDisk() async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        let clock = ManualClock()
        let (store, ticket) = try await Self.killedWithFullDisk(
            gateway, at: folder.file("store.db"), clock: clock, isJoined: false)
        try await store.sync()
        clock.advance(400)
        #expect(try await store.sync().isOK)
        #expect(await ticket.outcome.status == .merged)
        #expect(gateway.runs.count == 1)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 6)
        await store.close()
    }

    @Test("A push that grew after it was sent from a full disk is refused, because its outcome is unknown")
    func aJoinAfterAKillOnAFullDisk() async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        let clock = ManualClock()
        let (store, ticket) = try await Self.killedWithFullDisk(
            gateway, at: folder.file("store.db"), clock: clock, isJoined: true)
        for _ in 0..<3 {
            try await store.sync()
            clock.advance(400)
        }
        #expect(await store.status.unsent == 0)
        #expect(await ticket.outcome.status == .refused)
        let refused = try #require(try await store.refusedEdits().first)
        #expect(refused.problem["code"] == "outcome-unknown")
        #expect(
            refused.edits[0].changeset["customer"] == [
                "firstName": ["old": "Joe", "new": "Bob"], "lastName": ["old": "Shaw", "new": "Hill"],
                "points": ["old": 5, "new": 6],
            ])
        let customer = try #require(gateway.record("shoppers", 123))["customer"]
        #expect(customer["firstName"] == "Bob" && customer["lastName"] == "Shaw" && customer["points"] == 6)
        #expect(gateway.runs.count == 1)
        await store.close()
    }

    @Test("A store that another process may write sends only stored edits")
    func aBusyStore() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let disk = FullDisk(.SQLITE_BUSY)
        store.context.observeSteps { try disk.take($0) }
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 6 }
        disk.fill()
        await #expect(throws: DatabaseError.self) { try await store.sync() }
        #expect(gateway.runs.isEmpty)
        disk.fill(false)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 6)
    }

    // MARK: Answers that come late

    /// A store with two pushes of which the bytes are frozen, and the lease.
    private static func withFrozen(
        _ body: @escaping @Sendable (Ledger, [FrozenPush]) throws -> Void
    ) async throws {
        let store = try await StoreTests.synced(StoreTests.gateway())
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 6 }
        try await store.edit("shoppers", 124) { $0["customer", "points"] = 6 }
        _ = try await store.file.write("late") { ledger in
            #expect(try ledger.takeLease())
            let sent = try ledger.freeze(BatchLimits())
            #expect(sent.count == 2)
            try body(ledger, sent)
        }
    }

    @Test("An answer to bytes with another key, or after the end of the lease, changes nothing")
    func anotherKey() async throws {
        try await Self.withFrozen { ledger, sent in
            let push = try #require(sent.first)
            let other = FrozenPush(number: push.number, key: "another", body: push.body, isKept: false)
            try ledger.thaw(other)
            try ledger.noteOtherHistory(other)
            #expect(try ledger.state(of: push.number) == .sent)
            #expect(try ledger.meta("otherHistory").isNull)
            try ledger.noteNothingWritten([other] + sent.dropFirst())
            #expect(try ledger.isInDoubt())
            try ledger.noteNothingWritten([push])
            #expect(try !ledger.isInDoubt())
            try ledger.dropLease()
            #expect(throws: LeaseLost.self) { try ledger.thaw(push) }
            #expect(try ledger.state(of: push.number) == .sent)
        }
    }

    @Test(
        "A snapshot of a later history continues if a push of an earlier one is refused, and another one starts again")
    func aLaterHistory() async throws {
        try await Self.withFrozen { ledger, sent in
            let push = try #require(sent.first)
            let head: JSONValue = ["feed": "later", "revision": 3, "records": 2]
            _ = try ledger.beginSnapshot(head, goesOn: false)
            try ledger.noteOtherHistory(push)
            #expect(try ledger.meta("snapshot")["feed"] == "later")
            var same = head
            same["feed"] = try ledger.meta("feed")
            _ = try ledger.beginSnapshot(same, goesOn: false)
            try ledger.noteOtherHistory(push)
            #expect(try ledger.meta("snapshot").isNull)
            #expect(throws: ConnectionLost.self) { try ledger.storePart([], cursor: nil) }
            #expect(throws: ConnectionLost.self) { try ledger.endSnapshot() }
            #expect(try ledger.meta("snapshot").isNull && ledger.feedPlace() != nil)
        }
    }

    @Test("An open push of another record remains stored if the pushes of another history are built again")
    func otherRecords() async throws {
        try await Self.withFrozen { ledger, sent in
            let numbers = sent.map { JSONValue.integer(Int128($0.number)) }
            try ledger.setMeta("otherRecord", .array(numbers))
            try ledger.noteOtherHistory(sent[0])
            try ledger.rebuild()
            #expect(try ledger.state(of: sent[0].number) == .refused)
            #expect(try ledger.meta("otherRecord") == [numbers[1]])
            try ledger.noteOtherHistory(sent[1])
            try ledger.rebuild()
            #expect(try ledger.state(of: sent[1].number) == .refused)
            #expect(try ledger.meta("otherRecord").isNull)
        }
    }

    // MARK: Order

    @Test("Only edits of a resource with another shape wait for its records")
    func staleResources() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("aisles", 5) { $0["aisle", "name"] = "Cans" }
        try await store.edit("shoppers", 123) { $0["customer", "street"] = "2 Low St" }
        let made = try await store.create("aisles") { $0["aisle", "name"] = "Oils" }
        try await store.edit("shoppers", 124) { $0["groceries"].append(["name": "Oil", "aisle": made.id]) }
        gateway.change(rules: ShapeTests.rules("r2", adding: "country"), ShapeTests.withCountry)
        gateway.script.pass()  // the pushes, which the new rules refuse
        gateway.script.pass()  // the rules
        gateway.script.pass()  // the pushes of aisles
        gateway.script.noNetwork()  // the records of the new shape
        let report = try await store.sync()
        #expect(report.phase == .waiting)
        #expect(gateway.record("aisles", 5)?["aisle"]["name"] == "Cans")
        #expect(gateway.records("aisles").count == 2)
        #expect(await store.status.unsent == 2)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == "2 Low St")
        #expect(gateway.record("shoppers", 123)?["customer"]["country"] == "GB")
        #expect(gateway.record("shoppers", 124)?["groceries"].count == 1)
        #expect(gateway.runs.count == Set(gateway.runs).count)
    }

    @Test("A push waits for a skipped one if they share a record, an id or a reference")
    func skippedPushes() throws {
        let rules = try #require(Rules(text: SharedCases.model["rules"].description))
        func footprint(_ resource: String, _ id: JSONValue, _ rows: [RowChange]) -> PushFootprint {
            let changes = RecordChanges(rows)
            let edit = Ledger.StoredEdit(
                push: 1, place: 0, state: .unsent, resource: resource, key: id.key, id: id, changes: changes)
            return PushFootprint([edit], rules)
        }
        func name(_ id: JSONValue) -> PushFootprint {
            let sides = RowChange.GroupSides(old: ["firstName": "Joe"], new: ["firstName": "Bob"])
            return footprint(
                "shoppers", id, [RowChange(section: "customer", item: nil, step: .edit(["firstName": sides]))])
        }
        func aisle(_ old: JSONValue, _ new: JSONValue) -> PushFootprint {
            let sides = RowChange.GroupSides(old: ["aisle": old], new: ["aisle": new])
            return footprint("shoppers", 9, [RowChange(section: "groceries", item: 1, step: .edit(["aisle": sides]))])
        }
        func deleted(_ id: JSONValue) -> PushFootprint {
            footprint("aisles", id, [RowChange(section: "aisle", item: nil, step: .delete(["name": "Tins"]))])
        }
        func made(_ id: JSONValue) -> PushFootprint {
            footprint("aisles", id, [RowChange(section: "aisle", item: nil, step: .create(["name": "Tins"]))])
        }
        let pairs: [(PushFootprint, PushFootprint, Bool)] = [
            (name(123), name(123), true), (name(123), name(124), false),
            (made("tmp:a"), aisle(nil, "tmp:a"), true), (made("tmp:a"), aisle(nil, "tmp:b"), false),
            (made(7), aisle(nil, 7), true), (made(7), aisle(nil, "7"), true), (made(7), aisle(8, 9), false),
            (deleted(7), aisle(7, nil), true), (deleted(7), aisle(8, nil), false), (deleted(9), name(9), false),
        ]
        for (one, other, isShared) in pairs {
            #expect(one.shares(with: other) == isShared)
            #expect(other.shares(with: one) == isShared)
        }
    }

    @Test("Batches begin at 64 kB, double after a success, and halve after a lost answer, down to one push")
    func batches() async throws {
        let gateway = try StoreTests.gateway()
        for id in 1_000..<1_060 {
            gateway.put(["id": .integer(Int128(id)), "aisle": ["name": "Tins"]], in: "aisles", id: id)
        }
        var rules = SharedCases.model["rules"]
        rules["version"] = "wide"
        let text = rules.description.replacingOccurrences(
            of: "\"maximumCharacters\":20", with: "\"maximumCharacters\":9000")
        gateway.change(rules: try #require(JSONValue(text: text)))
        let clock = ManualClock()
        let store = try await memoryStore(gateway, clock: clock)
        #expect(try await store.sync().isOK)
        let name = JSONValue.string(String(repeating: "x", count: 8_000))
        for id in 1_000..<1_060 { try await store.edit("aisles", id) { $0["aisle", "name"] = name } }
        func counts() -> [Int] {
            gateway.script.requests.filter { $0.path.hasPrefix("/v1/sync") }.map { Self.pushes($0).count }
        }
        for _ in 0..<4 {
            gateway.script.noNetwork()
            try await store.sync()
        }
        #expect(counts() == [7, 3, 1, 1])
        #expect(try await store.sync().isOK)
        #expect(counts().dropFirst(4).prefix(4) == [1, 1, 1, 3])
        #expect(gateway.runs.count == 60 && Set(gateway.runs).count == 60)
    }

    // MARK: Large pushes

    /// A store with a photo in one shopper's street, which is a large push, and the gateway, which delays large
    /// requests.
    private static func withPhoto(
        clock: ManualClock = ManualClock()
    ) async throws -> (gateway: MemoryGateway, store: FieldMergeStore, photo: JSONValue) {
        let gateway = try StoreTests.gateway()
        let store = try await memoryStore(gateway, clock: clock)
        #expect(try await store.sync().isOK)
        let photo = JSONValue.string(String(repeating: "p", count: 300_000))
        try await store.edit("shoppers", 123) { $0["customer", "street"] = photo }
        try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" }
        return (gateway, store, photo)
    }

    private static func isLarge(_ request: TransportRequest) -> Bool { (request.body?.count ?? 0) > 256_000 }

    @Test("A small push does not wait for a large one, pulls go on, and one that shares a record waits")
    func aLargePush() async throws {
        let (gateway, store, photo) = try await Self.withPhoto()
        gateway.script.hold { Self.isLarge($0) }
        async let report = store.sync()
        let held = try #require(await gateway.script.nextHeld())
        #expect(held.json["feed"].isNull && held.json["pushes"].count == 1)
        #expect(gateway.record("shoppers", 124)?["customer"]["firstName"] == "Eve")
        // The scheduler is idle, and syncs each new edit.
        var statuses = store.statuses.makeAsyncIterator()
        while let status = await statuses.next(), status.phase != .pushing || status.unsent != 1 {}
        try await store.edit("shoppers", 124) { $0["customer", "lastName"] = "Hill" }
        try await store.edit("shoppers", 123) { $0["customer", "lastName"] = "Dale" }
        var record = try #require(gateway.record("shoppers", 124))
        record["customer"]["points"] = 77
        gateway.put(record, in: "shoppers", id: 124)
        async let second = store.sync()
        var shoppers = try store.observe("shoppers", 124).makeAsyncIterator()
        while let shopper = await shoppers.next(), shopper?["customer", "points"] != 77 {}
        #expect(gateway.record("shoppers", 124)?["customer"]["lastName"] == "Hill")
        #expect(gateway.record("shoppers", 123)?["customer"]["lastName"] == "Shaw")
        #expect(gateway.script.requests.filter(Self.isLarge).count == 1)
        gateway.script.hold { _ in false }
        var body = Data()
        for try await part in try await gateway.send(held.request).body { body += part }
        held.answer(JSONValue(text: String(decoding: body, as: UTF8.self)) ?? .null)
        #expect(try await report.isOK)
        #expect(try await second.isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == photo)
        #expect(gateway.record("shoppers", 123)?["customer"]["lastName"] == "Dale")
        #expect(gateway.runs.count == 4 && Set(gateway.runs).count == 4)
    }

    @Test("An answer of the lane replaces no newer record")
    func anOldAnswer() async throws {
        let (gateway, store, _) = try await Self.withPhoto()
        gateway.script.hold { Self.isLarge($0) }
        async let report = store.sync()
        let held = try #require(await gateway.script.nextHeld())
        var body = Data()
        gateway.script.hold { _ in false }
        for try await part in try await gateway.send(held.request).body { body += part }
        // Another user writes after the large push, and the client gets that change first.
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["street"] = "9 New St"
        record["customer"]["points"] = 50
        gateway.put(record, in: "shoppers", id: 123)
        async let second = store.sync()
        var shoppers = try store.observe("shoppers", 123).makeAsyncIterator()
        while let shopper = await shoppers.next(), shopper?["customer", "points"] != 50 {}
        gateway.script.hold { !Self.isLarge($0) && $0.path.hasPrefix("/v1/changes") }
        held.answer(JSONValue(text: String(decoding: body, as: UTF8.self)) ?? .null)
        let pull = try #require(await gateway.script.nextHeld())
        #expect(try await store.record("shoppers", 123)?["customer", "street"] == "9 New St")
        gateway.script.hold { _ in false }
        pull.breakOff()
        _ = try await (report, second)
        #expect(try await store.sync().isOK)
        #expect(try await store.record("shoppers", 123)?["customer", "street"] == "9 New St")
    }

    @Test("A large push that fails waits alone, small ones are sent meanwhile, and sync() ends the wait")
    func laneWaits() async throws {
        let clock = ManualClock()
        let (gateway, store, photo) = try await Self.withPhoto(clock: clock)
        gateway.script.hold { Self.isLarge($0) }
        async let report = store.sync()
        try #require(await gateway.script.nextHeld()).breakOff()
        let first = try await report
        #expect(first.phase == .waiting && first.unsent == 1 && first.merged == 1 && first.error != nil)
        #expect(await store.status.nextTry != nil)
        async let again = store.sync()
        try #require(await gateway.script.nextHeld()).breakOff()
        #expect(try await again.phase == .waiting)
        gateway.script.hold { _ in false }
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == photo)
        #expect(gateway.runs.count == 2 && Set(gateway.runs).count == 2)
    }

    @Test("close() and a deadline interrupt a large push, and it is sent again with the same key")
    func interruptedLane() async throws {
        let clock = ManualClock()
        let (gateway, store, photo) = try await Self.withPhoto(clock: clock)
        gateway.script.hold { Self.isLarge($0) }
        async let report = store.sync(deadline: .seconds(20))
        _ = try #require(await gateway.script.nextHeld())
        clock.advance(30)
        #expect(try await report.error == "out of time")
        gateway.script.hold { _ in false }
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == photo)
        #expect(Set(Self.keys(gateway)).count == 2)
        try await store.edit("shoppers", 123) {
            $0["customer", "street"] = .string(String(repeating: "q", count: 300_000))
        }
        gateway.script.hold { Self.isLarge($0) }
        let syncing = Task { try await store.sync() }
        _ = try #require(await gateway.script.nextHeld())
        await store.close()
        _ = await syncing.result
        #expect(await store.status.phase == .closed)
    }

    @Test("The lane waits until the rules are read")
    func theLaneWaitsForRules() async throws {
        let (gateway, store, photo) = try await Self.withPhoto()
        _ = try await store.file.write("due") { try $0.setMeta("rulesDue", true) }
        #expect(try await store.file.read { try !$0.hasUnsent(.large) && $0.hasUnsent(.small) })
        var rules = SharedCases.model["rules"]
        rules["version"] = "r2"
        gateway.change(rules: rules)
        #expect(try await store.sync().isOK)
        #expect(gateway.script.requests.filter(Self.isLarge).count == 1)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == photo)
    }

    @Test("Signing out with .send waits for a large push")
    func signingOutWaits() async throws {
        let (gateway, store, photo) = try await Self.withPhoto()
        try await store.signOut(unsent: .send)
        #expect(gateway.record("shoppers", 123)?["customer"]["street"] == photo)
        #expect(gateway.record("shoppers", 124)?["customer"]["firstName"] == "Eve")
    }

    @Test("A started store sends large and small pushes automatically")
    func startedLane() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await memoryStore(gateway, clock: SystemClock())
        try await store.start()
        var statuses = store.statuses.makeAsyncIterator()
        while let status = await statuses.next(), status.revision == nil || status.phase != .idle {}
        let photo = JSONValue.string(String(repeating: "p", count: 300_000))
        let large = try await store.edit("shoppers", 123) { $0["customer", "street"] = photo }
        let behind = try await store.edit("aisles", 5) { $0["aisle", "name"] = "Cans" }
        #expect(await large.outcome.status == .merged)
        #expect(await behind.outcome.status == .merged)
        await store.close()
    }
}
