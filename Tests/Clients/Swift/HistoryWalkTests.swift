import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Random walks over a server whose history changes: the journal is lost, or a backup is restored.
///
/// In the end no edit is applied twice, and each store equals the server. Each edit is stored, refused or removed by a
/// restore. No edit is applied to another record.
@Suite struct HistoryWalkTests {
    @Test("Edits survive a server whose history changes", .timeLimit(.minutes(10)), arguments: SharedCases.seeds(60))
    func walk(seed: Int) async throws { try await HistoryWalk(seed).run() }
}

/// Two devices on one server.
private final class HistoryWalk {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let gateway: MemoryGateway
    private var dice: SeededDice
    private var devices: [WalkingDevice] = []
    private var names: [String] = []
    private var rolledBack: Set<String> = []
    private var strangers = [1: 0, 2: 0, 3: 0]
    private var backedUp = [1: 0, 2: 0, 3: 0]
    private var restores = 0
    private var number = 0

    private static func shopper(_ id: Int) -> JSONValue {
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
            defaults: ["shoppers": ["customer": ["points": 5]]], clock: clock)
        gateway = try #require(made)
        gateway.backUp()
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
            if dice.chance(0.35) { await device.endAfter(Int.random(in: 1...60, using: &dice), isFault: false) }
            do {
                switch act {
                case "edit": try await edit(device)
                case "sync": _ = try await device.sync()
                case "others": others()
                default: trouble()
                }
            } catch is Killed {
                try await device.restart()
            }
            await device.live()
        }
        gateway.script.clearScript()
        for _ in 0..<8 {
            for device in devices { _ = try await device.sync() }
            clock.advance(400)
        }
        try await check()
    }

    // MARK: Events

    private func edit(_ device: WalkingDevice) async throws {
        number += 1
        let name = JSONValue.string("n\(number)")
        switch dice.pick(["pair", "pair", "pair", "create", "known"]) {
        case "pair":
            // The item is stored or lost together with the point.
            let id = dice.pick([1, 2, 3])
            try await stored(device) { store in
                try await store.edit("shoppers", id) { edit in
                    edit["customer", "points"] = .integer(Int128((edit["customer", "points"].intValue ?? 0) + 1))
                    edit["groceries"].append(["name": name])
                }
            } meaning: {
                names.append("n\(number)")
            }
        case "create":
            try await stored(device) { store in
                try await store.create("shoppers") { $0["customer", "firstName"] = name }
            } meaning: {
                names.append("n\(number)")
            }
        default: try await editKnown(device)
        }
    }

    /// Edits a shopper that another program may make anew under the same number.
    private func editKnown(_ device: WalkingDevice) async throws {
        let known = try await device.store.records("shoppers").map(\.value).first { record in
            let name = record["customer"]["firstName"].stringValue ?? "foreign"
            return (record["id"].intValue ?? 0) > 3 && !name.hasPrefix("foreign")
        }
        guard let known else { return }
        let name = known["customer"]["firstName"].stringValue ?? ""
        try await stored(device) { store in
            try await store.edit("shoppers", known["id"]) { $0["customer", "county"] = .string("county of \(name)") }
        } meaning: {
        }
        if dice.chance(0.5) { restore() }
    }

    private func stored(
        _ device: WalkingDevice, _ edit: @Sendable (FieldMergeStore) async throws -> Void, meaning: () -> Void
    ) async throws {
        let before = try await device.store.file.read { try $0.editCount() }
        guard try await device.isKilled(by: edit) else { return meaning() }
        // The number of tickets on disk shows whether the edit was committed before the kill.
        try await device.restart()
        if try await device.store.file.read({ try $0.editCount() }) > before { meaning() }
    }

    private func others() {
        let id = dice.pick([1, 2, 3])
        guard var record = gateway.record("shoppers", id) else { return }
        record["customer"]["points"] = .integer(Int128((record["customer"]["points"].intValue ?? 0) + 1000))
        strangers[id, default: 0] += 1
        gateway.put(record, in: "shoppers", id: id)
        switch Int.random(in: 0..<20, using: &dice) {
        case 0, 1: gateway.beginAnew()
        case 2...5:
            gateway.backUp()
            backedUp = strangers
        case 6...8:
            clock.advance(10)
            gateway.loseJournal(at: clock.now())
        case 9, 10: restore()
        default: break
        }
    }

    /// Restores the backup.
    ///
    /// Then another program creates shoppers.
    private func restore() {
        let before = stored()
        clock.advance(10)
        gateway.restore(at: clock.now())
        strangers = backedUp
        rolledBack.formUnion(Set(before).subtracting(stored()))
        restores += 1
        for count in 0..<3 {
            let id = gateway.nextID()
            let mark = JSONValue.string("foreign \(restores).\(count)")
            var record = Self.shopper(id.intValue ?? 0)
            for name in ["firstName", "lastName", "street", "county", "status"] { record["customer"][name] = mark }
            record["customer"]["points"] = 2000
            record["customer"]["tags"] = [mark]
            gateway.put(record, in: "shoppers", id: id)
        }
    }

    /// The names of shoppers and items that the server has.
    private func stored() -> [String] {
        gateway.records("shoppers").flatMap { record in
            let items = (record["groceries"].arrayValue ?? []).compactMap { $0["name"].stringValue }
            return items + ((record["id"].intValue ?? 0) > 3 ? [record["customer"]["firstName"].stringValue ?? ""] : [])
        }
    }

    /// The next requests fail, each in another way.
    private func trouble() {
        for _ in 0..<Int.random(in: 1...3, using: &dice) {
            switch dice.pick(["none", "lost", "lost", "cut", "busy"]) {
            case "none": gateway.script.noNetwork()
            case "lost": gateway.script.loseAnswer()
            case "cut": gateway.script.breakAnswer(at: Int.random(in: 0...400, using: &dice))
            default: gateway.script.error(503, "busy", headers: ["retry-after": "1"])
            }
        }
    }

    // MARK: The end

    private func check() async throws {
        let found = stored()
        #expect(found.count == Set(found).count, "nothing is doubled")
        var refused = ""
        for device in devices {
            for entry in try await device.store.refusedEdits() {
                refused += entry.edits.map(\.changeset.description).joined()
                #expect(
                    ["outcome-unknown", "key-expired", "other-record", "gone", "depends-on-refused"]
                        .contains(entry.problem["code"]))
            }
        }
        for name in names {
            #expect(
                found.contains(name) || rolledBack.contains(name) || refused.contains("\"\(name)\""), "\(name) is lost")
        }
        for record in gateway.records("shoppers") {
            let customer = record["customer"]
            if let id = record["id"].intValue, id <= 3 {
                let points = (record["groceries"].arrayValue?.count ?? 0) + 1000 * (strangers[id] ?? 0)
                #expect(customer["points"].intValue == points, "the points of \(id)")
            } else {
                let name = customer["firstName"].stringValue ?? ""
                let possible: [JSONValue] = [.null, .string(name), .string("county of \(name)")]
                #expect(possible.contains(customer["county"]), "an edit of another record was applied")
            }
        }
        for device in devices {
            let store = await device.store
            let left = try await store.file.read { ledger in
                try ["push WHERE state <> 3", "ticket WHERE outcome IS NULL"]
                    .map { try ledger.number("SELECT count(*) FROM \($0)") ?? 0 }
            }
            #expect(left == [0, 0])
            let held = try await store.records("shoppers").map(\.value)
            #expect(
                held.sorted { $0["id"].key < $1["id"].key }
                    == gateway.records("shoppers").sorted { $0["id"].key < $1["id"].key })
            await store.close()
        }
    }
}
