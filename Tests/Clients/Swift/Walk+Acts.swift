import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// The edits of a walk, with their meaning for the oracle.
extension Walk {
    func edit(_ device: WalkingDevice) async throws {
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
    func addAisle(_ device: WalkingDevice, _ name: String) async throws {
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
    func addPhoto(_ device: WalkingDevice, _ name: String) async throws {
        let id = dice.pick([1, 2, 3])
        let photo = JSONValue.string(name + String(repeating: "p", count: 260_000))
        try await stored(device) { store in
            try await store.edit("shoppers", id) { $0["customer", "street"] = photo }
        } meaning: {
        }
    }

    /// Points move from one shopper to another, in one transaction.
    func movePoints(_ device: WalkingDevice) async throws {
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

    /// Saves a form after later changes of its record.
    func fillForm(_ device: WalkingDevice, _ name: String) async throws {
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
    func makeAndDiscard(_ device: WalkingDevice, _ name: String) async throws {
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
    func makeShopper(_ device: WalkingDevice, _ name: String) async throws {
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
        // The values that the database fills in are unknown before the answer to the creation.
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

    /// Makes an edit, and adds it to the oracle if it was stored, killed or not.
    ///
    /// - Returns: false if the process was killed, and a new one has started.
    @discardableResult
    func stored(
        _ device: WalkingDevice, _ edit: @Sendable (FieldMergeStore) async throws -> Void, meaning: () -> Void
    ) async throws -> Bool {
        let before = try await device.store.file.read { try $0.editCount() }
        guard try await device.isKilled(by: edit) else {
            meaning()
            return true
        }
        // The number of tickets on disk shows whether the edit was committed before the kill.
        try await device.restart()
        if try await device.store.file.read({ try $0.editCount() }) > before { meaning() }
        return false
    }
}
