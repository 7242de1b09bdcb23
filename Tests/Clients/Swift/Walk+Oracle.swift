import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// The conditions at the end of a walk.
extension Walk {
    func settle() async throws {
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

    func check() async throws {
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

    func check(_ device: WalkingDevice) async throws {
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
