import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Lists and forms that the shared cases do not cover: two readers, two calls, two rows.
@Suite(.timeLimit(.minutes(2))) struct ListTests {
    /// A conflict of each name: this user writes it, and another user writes "Jim" before.
    private static func meet(_ store: FieldMergeStore, _ gateway: MemoryGateway, _ name: JSONValue) async throws {
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["firstName"] = .string("their \(name)")
        gateway.put(record, in: "shoppers", id: 123)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = name }
        try await store.sync()
    }

    /// Reads the next page of changes, and sends nothing.
    private static func pull(_ store: FieldMergeStore) async throws {
        #expect(try await store.file.write("lease") { try $0.takeLease() }.0)
        _ = try await store.pull()
        _ = try await store.file.write("lease ends") { try $0.dropLease() }
    }

    // MARK: Conflicts

    @Test("A second decision on an entry does nothing, whichever it is")
    func aSecondDecision() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await Self.meet(store, gateway, "Bob")
        let entry = try #require(try await store.conflicts().first)
        var events = store.conflicts.makeAsyncIterator()
        let event = try #require(await events.next())
        #expect(event.name == entry.name && entry.kind == .conflict)
        async let one = entry.takeTheirs()
        async let other = event.takeTheirs()
        #expect([try await one, try await other].compactMap { $0 }.count == 1)
        #expect(try await entry.takeMine() == nil)
        try await entry.dismiss()
        #expect(try await store.unsent().count == 1)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "their \"Bob\"")
    }

    @Test("An event is delivered once, also over a restart, and its entry remains")
    func deliveredOnce() async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        let url = folder.file("store.db")
        var store = try await StoreTests.synced(gateway, at: url)
        try await Self.meet(store, gateway, "Bob")
        try await Self.meet(store, gateway, "Tom")
        var events = store.conflicts.makeAsyncIterator()
        let first = try #require(await events.next())
        let second = try #require(await events.next())
        #expect(first.new == "Bob" && second.new == "Tom")
        // The app has handled only the first event, because it has not requested a third.
        await store.close()
        store = try await memoryStore(gateway, at: url)
        events = store.conflicts.makeAsyncIterator()
        #expect(await events.next()?.name == second.name)
        #expect(try await store.conflicts().map(\.name) == [first.name, second.name])
        await store.close()
    }

    @Test("Of two openings of a file one delivers an event, and the next opening delivers its unhandled events")
    func oneOpeningDelivers() async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway, at: folder.file("store.db"))
        var other = try await memoryStore(gateway, at: folder.file("store.db"))
        try await Self.meet(store, gateway, "Bob")
        try await Self.meet(store, gateway, "Tom")
        var events = store.conflicts.makeAsyncIterator()
        var others = other.conflicts.makeAsyncIterator()
        let first = try #require(await events.next())
        let second = try #require(await others.next())
        #expect(first.new == "Bob" && second.new == "Tom")
        #expect(try await other.conflicts().map(\.name) == [first.name, second.name])
        await store.close()
        await other.close()
        other = try await memoryStore(gateway, at: folder.file("store.db"))
        others = other.conflicts.makeAsyncIterator()
        #expect(await others.next()?.name == first.name)
        await other.close()
    }

    @Test("The last 1,000 delivered entries and all undelivered ones are kept")
    func theOldestLeaves() async throws {
        let store = try await StoreTests.synced(StoreTests.gateway())
        _ = try await store.file.write("conflicts") { ledger in
            for number in 0..<1_005 {
                try ledger.list(["name": .string("n\(number)"), "resource": "shoppers", "id": 123])
            }
        }
        #expect(try await store.conflicts().count == 1_005)
        _ = try await store.file.write("handled") { ledger in
            var number: Int64 = 0
            while let event = try ledger.claimEvent(.conflict, after: number), event.number <= 1_003 {
                number = event.number
            }
            try ledger.forgetEvents(.conflict, through: 1_003)
        }
        let entries = try await store.conflicts()
        #expect(entries.count == 1_002 && entries.first?.name == "n3" && entries.last?.name == "n1004")
    }

    @Test("A conflict of a ticket is the entry of the list")
    func theTicketHasTheEntry() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["firstName"] = "Jim"
        gateway.put(record, in: "shoppers", id: 123)
        try await store.sync()
        let conflict = try #require(await ticket.outcome.conflicts.first)
        #expect(try await store.conflicts().map(\.name) == [conflict.name])
        try await conflict.dismiss()
        #expect(try await store.conflicts().isEmpty)
    }

    @Test("Events that another opening had not delivered at its end are delivered here, also after a later event")
    func theOtherOpeningEnds() async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway, at: folder.file("store.db"))
        let other = try await memoryStore(gateway, at: folder.file("store.db"))
        try await Self.meet(store, gateway, "Bob")
        try await Self.meet(store, gateway, "Tom")
        var others = other.conflicts.makeAsyncIterator()
        #expect(await others.next()?.new == "Bob")
        var events = store.conflicts.makeAsyncIterator()
        #expect(await events.next()?.new == "Tom")
        await other.close()
        #expect(await events.next()?.new == "Bob")
        withExtendedLifetime(others) {}
        await store.close()
    }

    @Test("A function gets an overtaken edit before the edit is sent")
    func toldBeforeSending() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.onOvertaken { event in
            if event.draft == nil { _ = try? await event.takeTheirs() }
        }
        let form = try await store.draft("shoppers", 123)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Jim" }
        #expect(try await store.sync().isOK)
        form.record["customer", "firstName"] = "Bob"
        try await form.save()
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Jim")
        #expect(gateway.runs.count == 1)
    }

    // MARK: Unsent edits

    @Test("A discarded creation discards the edits that use it, also by a key of the app, and no others")
    func aDiscardedCreation() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let aisle = try await store.create("aisles") { $0["aisle", "name"] = "Oils" }
        let shopper = try await store.create("shoppers") { $0["customer", "firstName"] = "Kim" }
        try await store.transaction { transaction in
            try transaction.edit("shoppers", shopper.id) {
                $0["groceries"].append(["name": "Olive oil", "aisle": aisle.id])
            }
            try transaction.edit("shoppers", 124) { $0["customer", "points"] = 9 }
        }
        let other = try await store.edit("shoppers", 123) { $0["customer", "points"] = 9 }
        #expect(try await store.unsent().count == 4)
        #expect(try await store.unsent()[0].discard())
        let left = try await store.unsent()
        #expect(left.map(\.id) == [shopper.id, other.id])
        #expect(try await store.record("shoppers", 124)?["customer", "points"] == 5)
        #expect(try await left[0].discard())
        #expect(try await left[0].discard() == false)
        #expect(try await store.record("shoppers", shopper.id) == nil)
        #expect(try await store.sync().isOK)
        #expect(
            gateway.runs.count == 1 && gateway.records("aisles").count == 1 && gateway.records("shoppers").count == 2)
    }

    @Test("Later edits get the old value of a discarded one, also a deletion, and an edit without effect is dropped")
    func laterEdits() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 123) { edit in
            edit["customer", "firstName"] = "Bob"
            edit["groceries", 0, "quantity"] = "9 tins"
        }
        // Separate pushes, because each has a second record.
        try await store.transaction { transaction in
            try transaction.edit("shoppers", 123) { edit in
                edit["customer", "firstName"] = "Joe"
                edit["groceries"].remove(at: 0)
            }
            try transaction.edit("shoppers", 124) { $0["customer", "points"] = 7 }
        }
        #expect(try await store.unsent().count == 2)
        #expect(try await store.unsent()[0].discard())
        let parts = try await store.unsent()[0].edits
        #expect(parts.count == 2)
        #expect(parts[0].changeset["customer"].isNull, "Joe was the first value")
        #expect(parts[0].changeset["groceries"][0]["old"]["quantity"] == "1 tin")
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Joe")
        #expect(gateway.record("shoppers", 123)?["groceries"].count == 1)
        #expect(gateway.record("shoppers", 124)?["customer"]["points"] == 7)
    }

    @Test("The addition of a discarded edit is in no later edit")
    func aDiscardedSum() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 123) { $0["customer", "points"] = 6 }
        for points in [8, 7] {
            try await store.transaction { transaction in
                try transaction.edit("shoppers", 123) { $0["customer", "points"] = .integer(Int128(points)) }
                try transaction.edit("shoppers", 124) { $0["customer", "points"] = .integer(Int128(points)) }
            }
        }
        #expect(try await store.unsent()[0].discard())
        #expect(try await store.record("shoppers", 123)?["customer", "points"] == 6)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 6)
    }

    @Test("An edit back to the first value is sent if the store has another value")
    func backToTheFirst() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let form = try await store.draft("shoppers", 123)
        form.record["customer", "firstName"] = "Tom"
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        try await form.save()
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Joe" }
        #expect(try await store.record("shoppers", 123)?["customer", "firstName"] == "Joe")
        #expect(try await store.unsent().count == 3)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Joe")
    }

    @Test("A decision about an edit does not change a form with another base")
    func aDecisionLeavesOthers() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let form = try await store.draft("shoppers", 123)
        form.record["customer", "firstName"] = "Tom"
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        try await form.save()
        var record = try #require(gateway.record("shoppers", 123))
        record["customer"]["firstName"] = "Jim"
        gateway.put(record, in: "shoppers", id: 123)
        try await Self.pull(store)
        let entry = try #require(try await store.conflicts().first { $0.new == "Bob" })
        try await entry.takeTheirs()
        let left = try await store.unsent().map { $0.edits[0].changeset["customer"]["firstName"] }
        #expect(left == [["old": "Joe", "new": "Tom"]])
        let next = try #require(try await store.conflicts().first)
        #expect(try await store.conflicts().count == 1 && next.current == "Jim" && next.new == "Tom")
    }

    @Test("keepMine decides about the value of its entry, and a later change is a new decision")
    func keepMineOfAnOlderEntry() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        var entries: [Conflict] = []
        for name in ["Jim", "Kim"] {
            var record = try #require(gateway.record("shoppers", 123))
            record["customer"]["firstName"] = .string(name)
            gateway.put(record, in: "shoppers", id: 123)
            try await Self.pull(store)
            entries.append(try #require(try await store.conflicts().first))
        }
        func left() async throws -> JSONValue? {
            try await store.unsent().first?.edits.first?.changeset["customer"]["firstName"]
        }
        try await entries[0].keepMine()
        #expect(try await left() == ["old": "Jim", "new": "Bob"])
        let next = try #require(try await store.conflicts().first)
        #expect(next.old == "Jim" && next.current == "Kim" && next.new == "Bob")
        try await next.keepMine()
        #expect(try await left() == ["old": "Kim", "new": "Bob"])
        #expect(try await store.conflicts().isEmpty)
    }

    // MARK: Refused edits

    @Test("A group of a refused creation can be omitted, and is sent when the row exists")
    func aPartOfACreation() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let ticket = try await store.create("shoppers") { edit in
            edit["customer", "firstName"] = "Kim"
            edit["customer", "street"] = "2 Low St"
        }
        let problem: JSONValue = [
            "code": "invalid-value", "title": "x", "status": 400, "retry": false,
            "path": "edits[0].changeset.customer.new.street",
        ]
        gateway.script.answer(problem, status: 400)
        gateway.script.answer(problem, status: 400)
        try await store.sync()
        let entry = try #require(try await store.refusedEdits().first)
        #expect(entry.faulty == ["customer.address"])
        #expect(try await entry.resend(without: entry.faulty))
        #expect(try await store.refusedEdits().count == 1)
        #expect(try await store.sync().isOK)
        #expect(await ticket.outcome.status == .merged)
        let made = try #require(gateway.records("shoppers").first { $0["customer"]["firstName"] == "Kim" })
        #expect(made["customer"]["street"].isNull)
        let rest = try #require(try await store.refusedEdits().first)
        #expect(rest.id == made["id"])
        #expect(try await rest.resend())
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", made["id"])?["customer"]["street"] == "2 Low St")
    }

    @Test("Edits that use an omitted row are omitted too, and are sent with it")
    func usesOfOmittedRow() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.transaction { transaction in
            let aisle = try transaction.create("aisles") { $0["aisle", "name"] = "Oils" }
            try transaction.edit("shoppers", 124) { $0["groceries"].append(["name": "Oil", "aisle": aisle]) }
            try transaction.edit("shoppers", 123) { $0["customer", "points"] = 9 }
        }
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        let entry = try #require(try await store.refusedEdits().first)
        #expect(try await entry.resend(without: ["aisle"]))
        #expect(try await store.sync().isOK)
        #expect(gateway.records("aisles").count == 1 && gateway.record("shoppers", 124)?["groceries"].count == 0)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 9)
        let rest = try #require(try await store.refusedEdits().first)
        #expect(rest.edits.count == 2)
        await #expect(throws: FieldMergeError.nothingLeft) { try await rest.resend(without: ["aisle"]) }
        #expect(try await rest.resend())
        #expect(try await store.sync().isOK)
        #expect(gateway.records("aisles").count == 2 && gateway.record("shoppers", 124)?["groceries"].count == 1)
        #expect(try await store.refusedEdits().isEmpty)
    }

    // MARK: Forms

    @Test("A copy of the working copy reverts no saved value")
    func copyOfWorkingCopy() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let form = try await store.draft("shoppers", 123)
        var copy = form.record
        copy["customer", "points"] = 8
        form.record = copy
        try await form.save()
        #expect(try await store.sync().isOK)
        copy["customer", "firstName"] = "Bob"
        form.record = copy
        try await form.save()
        #expect(try await store.unsent().first?.edits.first?.changeset["customer"]["points"].isNull == true)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 8)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Bob")
    }

    @Test("Two calls of save at once save once")
    func savedOnce() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let form = try await store.draft("shoppers", 123)
        form.record["customer", "points"] = 8
        form.record["groceries"].append(["name": "Rice"])
        async let one = form.save()
        async let other = form.save()
        _ = try await (one, other)
        #expect(form.base?["customer", "points"] == 8)
        #expect(try await store.unsent().count == 1)
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 8)
        #expect(gateway.record("shoppers", 123)?["groceries"].count == 3)
        // The form can be used further, also with its new rows.
        form.record["groceries", 2, "quantity"] = "1 kg"
        try await form.save()
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["groceries"][2]["quantity"] == "1 kg")
    }

    @Test("Listeners of the store get events of open forms, not of closed ones")
    func listeners() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        var events = store.overtaken.makeAsyncIterator()
        let closed = try await store.draft("shoppers", 123)
        closed.record["customer", "firstName"] = "Ann"
        closed.close()
        let form = try await store.draft("shoppers", 123)
        form.record["customer", "firstName"] = "Bob"
        // The app's edit is also a change of the form's record.
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Jim" }
        let event = try #require(await events.next())
        #expect(event.draft === form && event.new == "Bob" && event.current == "Jim")
        try await event.keepMine()
        try await form.save()
        #expect(try await store.conflicts().isEmpty)
        #expect(try await store.unsent().count == 1, "what the form has seen, it joins")
        #expect(try await store.sync().isOK)
        #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Bob")
    }

    @Test("A value that does not fit remains an error until another one is assigned to its group")
    func faultsOfForms() async throws {
        let store = try await StoreTests.synced(StoreTests.gateway())
        let form = try await store.draft("shoppers", 123)
        form.record["customer", "firstName"] = .string(String(repeating: "x", count: 30))
        form.record["customer", "lastName"] = "Hill"
        await #expect(throws: InvalidEdit.self) { try await form.save() }
        form.record["groceries", 0, "name"] = nil
        form.record["groceries", 1, "name"] = "Rice"
        form.record["customer", "firstName"] = "Bob"
        let error = await #expect(throws: InvalidEdit.self) { try await form.save() }
        #expect(error?.path == "groceries[0].name")
        form.record["groceries", 0, "name"] = "Corn"
        try await form.save()
        let record = try #require(try await store.record("shoppers", 123))
        #expect(record["customer", "lastName"] == "Hill" && record["customer", "firstName"] == "Bob")
        #expect(record["groceries", 0, "name"] == "Corn" && record["groceries", 1, "name"] == "Rice")
    }

    @Test("An edit of several records has no form")
    func severalRecords() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        try await store.transaction { transaction in
            try transaction.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            try transaction.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" }
        }
        gateway.script.error(400, "invalid-value")
        gateway.script.error(400, "invalid-value")
        try await store.sync()
        let entry = try #require(try await store.refusedEdits().first)
        await #expect(throws: FieldMergeError.severalRecords) { try await entry.restore() }
        #expect(try await entry.resend())
        #expect(try await store.sync().isOK)
    }
}
