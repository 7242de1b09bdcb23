import Testing

@testable import FieldMergeClient

/// The scheduler against the table that all clients share.
@Suite struct SchedulerTests {
    @Test("States and events are those of the shared table")
    func table() {
        let table = SharedCases.scheduler
        #expect(table["states"].arrayValue?.compactMap(\.stringValue) == SyncPhase.allCases.map(\.rawValue))
        #expect(table["events"].objectValue?.keys.sorted() == Scheduler.Event.allCases.map(\.rawValue).sorted())
        #expect(table["conditions"].objectValue?.keys.sorted() == Scheduler.Condition.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: SyncPhase.allCases, Scheduler.Event.allCases)
    func everyCell(_ state: SyncPhase, _ event: Scheduler.Event) throws {
        let told = try #require(SharedCases.scheduler["table"][state.rawValue][event.rawValue].arrayValue)
        let written = Scheduler.rows(state, event).map { row -> JSONValue in
            [
                "when": .array(row.conditions.map { .string($0.rawValue) }), "state": .string(row.state.rawValue),
                "actions": .array(row.actions.map { .string($0.rawValue) }),
            ]
        }
        let expected = told.map { row -> JSONValue in
            ["when": .array(row["when"].arrayValue ?? []), "state": row["state"], "actions": row["actions"]]
        }
        #expect(written == expected)
        let all = Scheduler.Condition.allCases
        for bits in 0..<(1 << all.count) {
            let conditions = Set(all.indices.filter { bits & (1 << $0) != 0 }.map { all[$0] })
            let row = try #require(
                expected.first { row in
                    (row["when"].arrayValue ?? []).allSatisfy { name in
                        conditions.contains { .string($0.rawValue) == name }
                    }
                })
            let decided = Scheduler.decide(state, event, under: conditions)
            #expect(.string(decided.state.rawValue) == row["state"])
            #expect(.array(decided.actions.map { .string($0.rawValue) }) == row["actions"])
        }
    }

    /// Every state of a device that any order of events can reach, and the way from each to rest.
    @Test("Each reachable state ends at rest")
    func reachableStates() {
        var reached: Set<SchedulerWorld> = [SchedulerWorld()]
        var rest = Array(reached)
        while let world = rest.popLast() {
            #expect(world.fault == nil, "\(world)")
            #expect(world.comesToRest, "\(world)")
            for next in world.next where reached.insert(next).inserted { rest.append(next) }
        }
        #expect(reached.count > 100)
    }
}

/// Random numbers by a seed.
struct SeededDice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) &* 0x2545_F491_4F6C_DD1D &+ 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func pick<T>(_ elements: [T]) -> T { elements[Int.random(in: elements.indices, using: &self)] }
    mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &self) < part }
}
