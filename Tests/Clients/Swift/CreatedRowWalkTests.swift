import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Random walks over forms and bases from before the answer to a creation, with two openings of one store.
///
/// The `old` of each edit is the value in the answer to its creation, whatever was lost or changed since.
@Suite struct CreatedRowWalkTests {
    @Test(.timeLimit(.minutes(10)), arguments: SharedCases.seeds(40))
    func walk(seed: Int) async throws { try await CreatedRowWalk(seed).run() }
}

private final class CreatedRowWalk {
    /// An edit that has begun.
    private enum Begun {
        case form(RecordDraft)
        case base(Record)
    }

    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let gateway: MemoryGateway
    private var dice: SeededDice
    private var stores: [FieldMergeStore] = []
    private var begun: [Begun] = []
    private var edits = 0

    init(_ seed: Int) throws {
        folder = try TemporaryFolder()
        gateway = try CreatedRowTests.gateway()
        dice = SeededDice(seed)
    }

    func run() async throws {
        for _ in 0..<2 { stores.append(try await open()) }
        #expect(try await stores[0].sync().isOK)
        for _ in 0..<30 {
            switch dice.pick(["create", "create", "sync", "sync", "lose", "none", "theirs", "end", "end", "restart"]) {
            case "create": try await create()
            case "sync": try await sync(dice.pick([0, 1]))
            case "lose": gateway.script.loseAnswer()
            case "none": gateway.script.noNetwork()
            case "theirs": changeAll()
            case "end":
                if let edit = begun.indices.randomElement(using: &dice) { try await end(begun.remove(at: edit)) }
            default: try await restart(dice.pick([0, 1]))
            }
        }
        for edit in begun { try await end(edit) }
        gateway.script.clearScript()
        for index in [0, 1, 0] { try await sync(index) }
        #expect(try await stores[0].sync().isOK)
        #expect(await stores[0].status.unsent == 0)
        #expect(try await stores[0].refusedEdits().isEmpty)
        try checkRequests()
        for store in stores { await store.close() }
    }

    private func open() async throws -> FieldMergeStore {
        try await memoryStore(gateway, at: folder.file("store.db"), clock: clock)
    }

    private func sync(_ index: Int) async throws {
        try await stores[index].sync()
        clock.advance(400)
    }

    private func create() async throws {
        let store = dice.pick(stores)
        let count = dice.pick([1, 2])
        var ids: [JSONValue] = []
        try await store.transaction { transaction in
            for _ in 0..<count {
                let id = try transaction.create("shoppers") { edit in
                    edit["customer", "firstName"] = "Kim"
                    edit["groceries"].append(["name": "Rice"])
                    edit["card"] = [:]
                }
                ids.append(id)
            }
        }
        for id in ids {
            let isForm = dice.pick([true, false])
            let store = dice.pick(stores)
            begun.append(
                isForm
                    ? .form(try await store.draft("shoppers", id))
                    : .base(try #require(try await store.record("shoppers", id))))
        }
    }

    private func restart(_ index: Int) async throws {
        await stores[index].close()
        stores[index] = try await open()
        begun.removeAll { if case .form = $0 { true } else { false } }
    }

    /// Has another program change every record that was created.
    private func changeAll() {
        for var record in gateway.records("shoppers") where (record["id"].intValue ?? 0) > 1_000 {
            record["customer"]["points"] = 9
            record["customer"]["county"] = "Essex"
            record["groceries"][0, "quantity"] = "7"
            record["card"]["number"] = "N9"
            gateway.put(record, in: "shoppers", id: record["id"])
        }
    }

    private func end(_ edit: Begun) async throws {
        edits += 1
        func change(_ edit: inout RecordEdit) {
            edit["customer", "points"] = 3
            edit["customer", "street"] = "2 High St"
            edit["groceries", 0, "quantity"] = "5"
            edit["card", "number"] = "N5"
        }
        switch edit {
        case .form(let form):
            change(&form.record)
            try await form.save()
        case .base(let base):
            try await dice.pick(stores).edit("shoppers", base.id, base: base, change)
        }
    }

    private func checkRequests() throws {
        var changes: [JSONValue: JSONValue] = [:]
        var joined: Set<JSONValue> = []
        for request in gateway.script.requests where request.path.hasPrefix("/v1/sync") {
            let body = JSONValue(text: String(decoding: request.body ?? Data(), as: UTF8.self)) ?? .null
            for push in body["pushes"].arrayValue ?? [] {
                for edit in push["edits"].arrayValue ?? [] {
                    let change = edit["changeset"]
                    if !change["customer"]["points"].isNull { changes[[push["key"], edit["id"]]] = change }
                    if change["customer"]["new"]["points"] == 3 { joined.insert([push["key"], edit["id"]]) }
                }
            }
        }
        #expect(changes.count + joined.count == edits)
        for change in changes.values {
            #expect(change["customer"]["points"] == ["old": 5, "new": 3])
            #expect(change["customer"]["address"]["old"] == ["street": nil, "county": "Kent", "postCode": nil])
            #expect(change["groceries"][0]["item"]["old"] == ["name": "Rice", "quantity": "1"])
            #expect(change["card"]["number"] == ["old": "N1", "new": "N5"])
        }
    }
}
