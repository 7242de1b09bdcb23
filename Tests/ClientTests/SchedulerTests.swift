import Testing

@testable import FieldMergeClient

/// The scheduler against the table that all clients share.
@Suite struct SchedulerTests {
    @Test func statesAndEventsAreThoseOfTheTable() {
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
            let decided = Scheduler.decide(state, event, conditions)
            #expect(.string(decided.state.rawValue) == row["state"])
            #expect(.array(decided.actions.map { .string($0.rawValue) }) == row["actions"])
        }
    }

    /// Walks at random over a device: what it does not know, and what its requests come to.
    @Test(arguments: SharedCases.seeds(200)) func walks(seed: Int) {
        var dice = SeededDice(seed)
        var state = SyncPhase.idle
        var unsent = 0
        var (hasMore, isFresh, hasRequest, hasTimer) = (false, false, false, false)
        var last: Scheduler.Event?
        func conditions(isAgain: Bool) -> Set<Scheduler.Condition> {
            var out: Set<Scheduler.Condition> = []
            if unsent > 0 { out.insert(.unsent) }
            if hasMore { out.insert(.more) }
            if isAgain { out.insert(.again) }
            if isFresh { out.insert(.fresh) }
            return out
        }
        for _ in 0..<300 {
            let event = Self.event(&dice, state, hasRequest: hasRequest, hasTimer: hasTimer)
            if event == .edit { unsent += 1 }
            if event == .settled, dice.chance(0.7) { unsent = 0 }
            if event == .settled || event == .page { hasMore = dice.chance(0.2) }
            var row = Scheduler.decide(state, event, conditions(isAgain: event == last))
            if event.isAnswer {
                hasRequest = false
                last = event
                isFresh = isFresh && event == .unauthorized
            }
            if event == .timer { hasTimer = false }
            var actions = row.actions
            if actions.contains(.askToken) {
                isFresh = true
                row = Scheduler.decide(row.state, .token, conditions(isAgain: false))
                actions += row.actions
            }
            for action in actions {
                switch action {
                case .push, .pull:
                    #expect(!hasRequest, "push and pull never overlap")
                    hasRequest = true
                    #expect(row.state == (action == .push ? .pushing : .pulling))
                case .abort: hasRequest = false
                case .schedule, .scheduleLong: hasTimer = true
                case .cancelTimer: hasTimer = false
                case .note: hasMore = true
                default: break
                }
            }
            state = row.state
            #expect(hasRequest == [.pushing, .pulling].contains(state), "\(event) to \(state)")
            #expect(!(state == .idle && unsent > 0), "an unsent edit never rests in idle")
            #expect(hasTimer == [.waiting, .needsAuth, .needsUpgrade].contains(state), "no state holds for ever")
        }
        for event in [Scheduler.Event.online, .sync] {
            let moved = Scheduler.decide(state, event, conditions(isAgain: false))
            #expect([.pushing, .pulling].contains(moved.state))
        }
    }

    /// An event that may come now: answers come to requests, and each to its own kind.
    private static func event(
        _ dice: inout SeededDice, _ state: SyncPhase, hasRequest: Bool, hasTimer: Bool
    ) -> Scheduler.Event {
        var events: [Scheduler.Event] = [.edit, .sync, .news, .online, .offline]
        if hasTimer { events.append(.timer) }
        if hasRequest {
            let strange: Set<Scheduler.Event> = state == .pulling ? [.settled, .tooLarge, .history] : [.page]
            let answers = Scheduler.Event.allCases.filter { $0.isAnswer && !strange.contains($0) }
            events += answers + answers
        }
        return dice.pick(events)
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
