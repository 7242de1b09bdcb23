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

/// Two devices on one server, and the invariants at the end.
final class Walk {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let gateway: MemoryGateway
    var dice: SeededDice
    var devices: [WalkingDevice] = []
    var points = [1: 0, 2: 0, 3: 0]
    var items: [String: Int] = [:]
    var deleted: Set<String> = []
    var aisles: Set<String> = []
    var aisleOf: [String: String] = [:]
    var shoppers: [String: String?] = [:]
    var shopperPoints: [String: Int] = [:]
    var number = 0
    var rulesVersion = 1

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
                // The next sync continues without a restart.
            }
            await device.live()
        }
        try await settle()
        try await check()
    }

}
