import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Walks at random with a network that fails and processes that are killed at every step, against an oracle.
///
/// In the end the queues are empty, nothing is lost or doubled, counters are exact, and every store equals the server.
@Suite struct WalkTests {
    @Test(.timeLimit(.minutes(10)), arguments: SharedCases.seeds(100)) func walk(seed: Int) async throws {
        let walk = try await Walk(seed)
        try await walk.run()
    }
}

/// A store whose process can be killed at any step of any of its transactions.
actor WalkingDevice {
    private let url: URL
    private let gateway: MemoryGateway
    private let clock: ManualClock
    private let seed: UInt64
    private(set) var store: FieldMergeStore

    /// Counts steps, and ends the process at one of them, or throws there once.
    private final class StepCounter: Sendable {
        private struct State {
            var left: Int?
            var isFault = false
        }

        private let state = Mutex(State())

        func take() throws {
            let error: (any Error)? = state.withLock { state in
                guard let steps = state.left else { return nil }
                state.left = steps - 1
                guard steps <= 1 else { return nil }
                if state.isFault { state.left = nil }
                return state.isFault ? FaultTests.StorageFault() : Killed()
            }
            if let error { throw error }
        }

        func reset(endAfter steps: Int?, isFault: Bool = false) {
            state.withLock { $0 = State(left: steps, isFault: isFault) }
        }
    }

    private let counter = StepCounter()

    init(_ url: URL, _ gateway: MemoryGateway, _ clock: ManualClock, seed: UInt64) async throws {
        self.url = url
        self.gateway = gateway
        self.clock = clock
        self.seed = seed
        store = try await memoryStore(gateway, at: url, clock: clock, seed: seed)
        observe()
    }

    private func observe() {
        let counter = counter
        store.context.observeSteps { _ in try counter.take() }
    }

    func endAfter(_ steps: Int, isFault: Bool) { counter.reset(endAfter: steps, isFault: isFault) }
    func live() { counter.reset(endAfter: nil) }

    func restart() async throws {
        store.file.close()
        clock.advance(60)  // whoever held the lease is dead
        store = try await memoryStore(gateway, at: url, clock: clock, seed: seed)
        live()
        observe()
    }

    /// Makes an edit; returns whether the process ended meanwhile.
    func isKilled(by edit: @Sendable (FieldMergeStore) async throws -> Void) async throws -> Bool {
        do {
            try await edit(store)
            return false
        } catch is Killed {
            return true
        } catch is FaultTests.StorageFault {
            return true
        }
    }

    func sync() async throws -> SyncReport { try await store.sync() }
}

/// Two devices on one server, and what must be true in the end.
private final class Walk {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let gateway: MemoryGateway
    private var dice: SeededDice
    private var devices: [WalkingDevice] = []
    private var points = [1: 0, 2: 0, 3: 0]
    private var items: [String: Int] = [:]
    private var deleted: Set<String> = []
    private var aisles: Set<String> = []
    private var aisleOf: [String: String] = [:]
    private var shoppers: [String: String?] = [:]
    private var shopperPoints: [String: Int] = [:]
    private var number = 0
    private var rulesVersion = 1

    static func shopper(_ id: Int) -> JSONValue {
        [
            "id": .integer(Int128(id)),
            "customer": [
                "firstName": "Joe", "lastName": nil, "street": nil, "county": nil, "postCode": nil, "points": 0,
                "status": "new", "tags": [], "modified": nil,
            ],
            "groceries": [], "card": nil,
        ]
    }

    init(_ seed: Int) async throws {
        folder = try TemporaryFolder()
        dice = SeededDice(seed)
        let made = MemoryGateway(
            rules: SharedCases.model["rules"], records: ["shoppers": [1, 2, 3].map(Self.shopper)],
            defaults: ["shoppers": ["customer": ["points": 5, "county": "Kent", "country": "GB"]]], clock: clock)
        gateway = try #require(made)
        for index in 0..<2 {
            let device = try await WalkingDevice(
                folder.file("\(index).db"), gateway, clock, seed: UInt64(seed * 2 + index))
            #expect(try await device.sync().isOK)
            devices.append(device)
        }
    }

    func run() async throws {
        for _ in 0..<25 {
            let device = dice.pick(devices)
            let act = dice.pick(["edit", "edit", "edit", "sync", "sync", "others", "trouble"])
            if dice.chance(0.45) {
                await device.endAfter(Int.random(in: 1...60, using: &dice), isFault: dice.chance(0.3))
            }
            if dice.chance(0.08) { changeRules() }
            do {
                switch act {
                case "edit": try await edit(device)
                case "sync": _ = try await device.sync()
                case "others": others()
                default: trouble()
                }
            } catch is Killed {
                try await device.restart()
            } catch is FaultTests.StorageFault {
                // The next sync goes on without a restart.
            }
            await device.live()
        }
        try await settle()
        try await check()
    }

    // MARK: What happens

    private func edit(_ device: WalkingDevice) async throws {
        number += 1
        let name = "n\(number)"
        let acts = [
            "add", "add", "item", "item", "aisle", "delete", "both", "shopper", "name", "form", "undone", "photo",
        ]
        switch dice.pick(acts) {
        case "add":
            let (id, more) = (dice.pick([1, 2, 3]), Int.random(in: -3...5, using: &dice))
            try await stored(device) { store in
                try await store.edit("shoppers", id) { edit in
                    let points = edit["customer", "points"].intValue ?? 0
                    edit["customer", "points"] = .integer(Int128(points + more))
                }
            } meaning: {
                points[id, default: 0] += more
            }
        case "item":
            let id = dice.pick([1, 2, 3])
            try await stored(device) { store in
                try await store.edit("shoppers", id) { $0["groceries"].append(["name": .string(name)]) }
            } meaning: {
                items[name] = id
            }
        case "aisle": try await addAisle(device, name)
        case "delete":
            let id = dice.pick([1, 2, 3])
            let names = try await device.store.record("shoppers", id)?["groceries"].arrayValue?.compactMap {
                $0["name"].stringValue
            }
            guard let names, !names.isEmpty else { return }
            let gone = dice.pick(names)
            try await stored(device) { store in
                try await store.edit("shoppers", id) { edit in
                    edit["groceries"].removeAll { $0["name"] == .string(gone) }
                }
            } meaning: {
                deleted.insert(gone)
            }
        case "both": try await movePoints(device)
        case "shopper": try await makeShopper(device, name)
        case "form": try await fillForm(device, name)
        case "undone": try await makeAndDiscard(device, name)
        case "photo": try await addPhoto(device, name)
        default:
            let id = dice.pick([1, 2, 3])
            try await stored(device) { store in
                try await store.edit("shoppers", id) { $0["customer", "firstName"] = .string(name) }
            } meaning: {
            }
        }
    }

    /// An item of a new aisle, in one transaction.
    private func addAisle(_ device: WalkingDevice, _ name: String) async throws {
        let id = dice.pick([1, 2, 3])
        try await stored(device) { store in
            try await store.transaction { transaction in
                let aisle = try transaction.create("aisles") { $0["aisle", "name"] = .string("a\(name)") }
                try transaction.edit("shoppers", id) {
                    $0["groceries"].append(["name": .string(name), "aisle": aisle])
                }
            }
        } meaning: {
            aisles.insert("a\(name)")
            items[name] = id
            aisleOf[name] = "a\(name)"
        }
    }

    /// An edit that is large enough for the lane of large pushes.
    private func addPhoto(_ device: WalkingDevice, _ name: String) async throws {
        let id = dice.pick([1, 2, 3])
        let photo = JSONValue.string(name + String(repeating: "p", count: 260_000))
        try await stored(device) { store in
            try await store.edit("shoppers", id) { $0["customer", "street"] = photo }
        } meaning: {
        }
    }

    /// Points move from one shopper to another, in one transaction.
    private func movePoints(_ device: WalkingDevice) async throws {
        let pair = [1, 2, 3].shuffled(using: &dice)
        try await stored(device) { store in
            try await store.transaction { transaction in
                for (id, more) in [(pair[0], -1), (pair[1], 1)] {
                    try transaction.edit("shoppers", id) { edit in
                        let points = edit["customer", "points"].intValue ?? 0
                        edit["customer", "points"] = .integer(Int128(points + more))
                    }
                }
            }
        } meaning: {
            points[pair[0], default: 0] -= 1
            points[pair[1], default: 0] += 1
        }
    }

    /// A form that is saved behind what came since it was opened.
    private func fillForm(_ device: WalkingDevice, _ name: String) async throws {
        let (id, more) = (dice.pick([1, 2, 3]), Int.random(in: 1...5, using: &dice))
        let form = try await device.store.draft("shoppers", id)
        let points = form.record["customer", "points"].intValue ?? 0
        if dice.chance(0.5) { others() }
        if dice.chance(0.5) { _ = try await device.sync() }
        try await stored(device) { store in
            form.record["customer", "points"] = .integer(Int128(points + more))
            form.record["groceries"].append(["name": .string(name)])
            try await form.save()
        } meaning: {
            self.points[id, default: 0] += more
            items[name] = id
        }
    }

    /// An edit that is discarded before it is sent.
    private func makeAndDiscard(_ device: WalkingDevice, _ name: String) async throws {
        let token = Mutex("")
        let isAlive = try await stored(device) { store in
            let ticket = try await store.create("aisles") { $0["aisle", "name"] = .string("a\(name)") }
            token.withLock { $0 = ticket.token }
        } meaning: {
            aisles.insert("a\(name)")
        }
        guard isAlive else { return }
        do {
            _ = try await device.store.unsent().last?.discard()
        } catch is Killed {
            try await device.restart()
        } catch is FaultTests.StorageFault {
        }
        let ticket = try await device.store.ticket(token.withLock { $0 })
        if await ticket?.outcomeSoFar?.status == .discarded { aisles.remove("a\(name)") }
    }

    /// A row that one push creates and later ones use and edit.
    private func makeShopper(_ device: WalkingDevice, _ name: String) async throws {
        let made = Mutex<JSONValue>(.null)
        let isAlive = try await stored(device) { store in
            try await store.create("shoppers") { edit in
                edit["customer", "firstName"] = .string(name)
                let id = edit.id
                made.withLock { $0 = id }
            }
        } meaning: {
            shoppers[name] = .some(nil)
            shopperPoints[name] = 5
        }
        guard isAlive else { return }
        if dice.chance(0.5) { _ = try await device.sync() }
        let id = made.withLock { $0 }
        try await stored(device) { store in
            try await store.edit("shoppers", id) { $0["customer", "lastName"] = .string(name) }
        } meaning: {
            shoppers[name] = .some(name)
        }
        // What the database has put there is not known before the creation is answered.
        let more = Int.random(in: 0...9, using: &dice)
        try await stored(device) { store in
            try await store.edit("shoppers", id) { edit in
                edit["customer", "points"] = .integer(Int128(more))
                edit["customer", "street"] = .string(name)
            }
        } meaning: {
            shopperPoints[name] = more
        }
    }

    /// Makes an edit, and tells the oracle of it if it came to be on disk, killed or not.
    ///
    /// - Returns: false where the process ended meanwhile, and another has begun.
    @discardableResult
    private func stored(
        _ device: WalkingDevice, _ edit: @Sendable (FieldMergeStore) async throws -> Void, meaning: () -> Void
    ) async throws -> Bool {
        let before = try await device.store.file.read { try $0.editCount() }
        guard try await device.isKilled(by: edit) else {
            meaning()
            return true
        }
        // The number of tickets on disk says whether the edit was committed before the end came.
        try await device.restart()
        if try await device.store.file.read({ try $0.editCount() }) > before { meaning() }
        return false
    }

    /// Somebody else writes, and sometimes the feed begins anew.
    private func others() {
        let id = dice.pick([1, 2, 3])
        guard var record = gateway.record("shoppers", id) else { return }
        let held = record["customer"]["points"].intValue ?? 0
        record["customer"]["points"] = .integer(Int128(held + 7))
        points[id, default: 0] += 7
        gateway.put(record, in: "shoppers", id: id)
        if dice.chance(0.15) { gateway.beginAnew() }
    }

    /// The rules gain a field, or lose it again.
    private func changeRules() {
        rulesVersion += 1
        let hasCountry = rulesVersion % 2 == 0
        let rules = ShapeTests.rules("r\(rulesVersion)", adding: hasCountry ? "country" : nil)
        gateway.change(rules: rules) { resource, record in
            if hasCountry { return ShapeTests.withCountry(resource, record) }
            guard resource == "shoppers", var members = record.objectValue else { return record }
            members["customer"] = .object((record["customer"].objectValue ?? [:]).filter { $0.key != "country" })
            return .object(members)
        }
    }

    /// The next requests of whoever comes fail, each in its own way.
    private func trouble() {
        for _ in 0..<Int.random(in: 1...3, using: &dice) {
            switch dice.pick(["none", "lost", "cut", "busy", "html", "proxy", "large"]) {
            case "none": gateway.script.noNetwork()
            case "lost": gateway.script.loseAnswer()
            case "cut": gateway.script.breakAnswer(at: Int.random(in: 0...400, using: &dice))
            case "busy": gateway.script.error(503, "busy", headers: ["retry-after": "1"])
            case "html":
                gateway.script.reply(
                    Reply(headers: ["content-type": "text/html"], body: Data("<html>Please log in</html>".utf8)))
            case "proxy": gateway.script.reply(Reply(status: 502))
            default:
                gateway.script.add { request in
                    let body = String(decoding: request.body ?? Data(), as: UTF8.self)
                    let isSeveral = body.components(separatedBy: "\"key\"").count > 2
                    return isSeveral ? .problem(413, "too-large") : .problem(503, "busy")
                }
            }
        }
    }

    // MARK: The end

    private func settle() async throws {
        gateway.script.clearScript()
        for _ in 0..<2 {
            for device in devices {
                var report = try await device.sync()
                for _ in 0..<5 where !report.isOK {
                    clock.advance(400)
                    report = try await device.sync()
                }
                #expect(report.isOK, "\(report)")
            }
        }
    }

    private func check() async throws {
        #expect(gateway.runs.count == Set(gateway.runs).count, "no push runs twice")
        for (id, count) in points {
            #expect(gateway.record("shoppers", id)?["customer"]["points"].intValue == count, "the points of \(id)")
        }
        let names = Dictionary(
            uniqueKeysWithValues: gateway.records("aisles").map {
                ($0["id"].key, $0["aisle"]["name"].stringValue ?? "")
            })
        #expect(names.values.sorted() == aisles.sorted())
        var found: [String: Int] = [:]
        for record in gateway.records("shoppers") {
            for item in record["groceries"].arrayValue ?? [] {
                let name = item["name"].stringValue ?? ""
                #expect(found[name] == nil, "\(name) is doubled")
                found[name] = record["id"].intValue
                if let aisle = aisleOf[name] { #expect(names[item["aisle"].key] == aisle) }
            }
        }
        #expect(found == items.filter { !deleted.contains($0.key) })
        let made = gateway.records("shoppers").filter { ($0["id"].intValue ?? 0) > 3 }
        let told = made.map { "\($0["customer"]["firstName"]) \($0["customer"]["lastName"])" }
        let expected = shoppers.map { "\"\($0.key)\" \($0.value.map { "\"\($0)\"" } ?? "null")" }
        #expect(told.sorted() == expected.sorted())
        for record in made {
            let name = record["customer"]["firstName"].stringValue ?? ""
            #expect(record["customer"]["points"].intValue == shopperPoints[name], "the points of \(name)")
            #expect(record["customer"]["county"] == "Kent")
        }
        for device in devices { try await check(device) }
    }

    private func check(_ device: WalkingDevice) async throws {
        let store = await device.store
        #expect(try await store.refusedEdits().isEmpty)
        let left = try await store.file.read { ledger in
            try [
                "push", "edit", "event WHERE kind <> 'conflict' AND kind <> 'overtaken'",
                "ticket WHERE outcome IS NULL",
            ]
            .map { try ledger.number("SELECT count(*) FROM \($0)") ?? 0 }
        }
        #expect(left == [0, 0, 0, 0])
        for resource in ["shoppers", "aisles", "orders"] {
            let held = try await store.records(resource).map(\.value)
            let there = gateway.records(resource).sorted { JSONValue.precedes($0["id"], $1["id"]) }
            #expect(held == there)
        }
        await store.close()
    }
}
