import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// A push from its typed edits to its answer: once, whatever the database does, wherever the journal lies.
@Suite(.timeLimit(.minutes(1))) struct MergeServiceTests {
    @Test(arguments: Counters.Place.allCases) func aPushUnderAKeyTakesEffectOnce(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "merged")
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "again")
        #expect(
            await counters.outcome { () async throws(Failure) in try await counters.add(2, key: "k") } == "key-reused")
        #expect(try await counters.number() == 6)
        #expect(try await counters.entries() == 1)
    }

    /// Two who both count from 5 to 6 make 7; without a key each counts.
    @Test(arguments: Counters.Place.allCases) func everyPushWithoutAKeyCounts(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        for _ in 0..<3 { _ = try await counters.add(1) }
        #expect(try await counters.number() == 8)
    }

    /// A push that nobody waits for any more ends while its answer is made, and leaves nothing.
    @Test(arguments: Counters.Place.allCases) func whoLeavesMeanwhileGetsNothingWritten(_ place: Counters.Place)
        async throws
    {
        let caller = Caller()
        let counters = try await Counters(place) { caller.leave() }
        let outcome = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, key: "k", caller: caller)
        }
        #expect(outcome == "busy")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries() == 0)
    }

    /// Nobody here knows what became of a transaction whose COMMIT was not answered; the journal does.
    @Test(arguments: Counters.Place.allCases, [true, false])
    func aLostCommitIsLookedUp(_ place: Counters.Place, isCommitted: Bool) async throws {
        let counters = try await Counters(place)
        counters.engine.meet([.breaks(isCommitted: isCommitted)])
        let outcome = await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") }
        #expect(outcome == (isCommitted ? "again" : "merged"))
        #expect(try await counters.number() == 6)
        #expect(try await counters.entries() == 1)
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "again")
    }

    /// Without a key nobody can look, so the client is told, and nothing runs a second time.
    @Test(arguments: Counters.Place.allCases, [true, false])
    func withoutAKeyALostCommitIsUnknown(_ place: Counters.Place, isCommitted: Bool) async throws {
        let counters = try await Counters(place)
        counters.engine.meet([.breaks(isCommitted: isCommitted)])
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1) } == "unknown-outcome")
        #expect(try await counters.number() == (isCommitted ? 6 : 5))
    }

    /// A transaction that stays in doubt is decided on from the rows, before its key is answered.
    @Test(arguments: [true, false]) func recoveryDecidesOnWhatIsInDoubt(_ isCommitted: Bool) async throws {
        let counters = try await Counters(.ahead)
        counters.engine.meet([.breaks(isCommitted: isCommitted)])
        _ = await counters.outcome { () async throws(Failure) in try await counters.add(1) }
        #expect(try await counters.entries() == 1, "the draft was written ahead")
        try await counters.service.recover(counters.active, until: .now + .seconds(60))
        #expect(try await counters.entries() == (isCommitted ? 1 : 0))
        _ = try await counters.add(1, to: 2)
        #expect(try await counters.number(2) == 6)
    }

    @Test(arguments: Counters.Place.allCases) func whatMetAnotherRunsAgain(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        counters.engine.meet([.fails(.serialization), .fails(.disconnected), .fails(.serialization)])
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "merged")
        #expect(try await counters.number() == 6)
        #expect(try await counters.entries() == 1)
    }

    @Test(arguments: Counters.Place.allCases) func aDatabaseThatIsFullIsTold(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        // Once in the lane, and once alone.
        counters.engine.meet([.fails(.unwritable), .fails(.unwritable)])
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1) } == "cannot-write")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries() == 0)
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1) } == "merged")
    }

    @Test(arguments: Counters.Place.allCases) func aRejectedPushIsKeptWhole(_ place: Counters.Place) async throws {
        let counters = try await Counters(place, policy: .reject)
        let outcome = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, base: 3, key: "k")
        }
        #expect(outcome == "rejected")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries("body IS NOT NULL") == 1)
        let again = await counters.outcome { () async throws(Failure) in try await counters.add(1, base: 3, key: "k") }
        #expect(again == "again")
        #expect(try await counters.entries("body IS NOT NULL") == 1)
    }

    @Test(arguments: Counters.Place.allCases) func aPreviewLeavesNothing(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        let outcome = await counters.outcome { () async throws(Failure) in try await counters.add(1, isPreview: true) }
        #expect(outcome == "merged")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries() == 0)
    }

    /// Two bodies that take the same thing back have two keys and one effect.
    @Test(arguments: Counters.Place.allCases) func anEffectIsTakenOnce(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        let effect = SingleEffect.undo(7, outcome: 0)
        let first = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, key: "undo:7", effects: [effect])
        }
        #expect(first == "merged")
        let second = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, to: 2, key: "undo:7 of a part", effects: [effect])
        }
        // A journal of its own hears of the effect with the next transaction, and the desk asks it before.
        #expect(place == .ahead || second == "taken-effect")
        #expect(try await counters.number() == 6)
    }

    /// Many at once: every addition that is acknowledged is stored.
    @Test(arguments: Counters.Place.allCases) func nothingAcknowledgedIsLost(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        let merged = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask {
                    await counters.outcome { () async throws(Failure) in
                        try await counters.add(1, to: 1 + number % 2, key: number % 3 == 0 ? "k\(number)" : nil)
                    } == "merged"
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(merged == 60)
        #expect(try await counters.number(1) + counters.number(2) == 70)
    }
}
