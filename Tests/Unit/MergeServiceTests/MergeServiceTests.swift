import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// A push from its typed edits to its answer has its effect once, for all faults of the database and all places of the journal.
@Suite(.timeLimit(.minutes(1))) struct MergeServiceTests {
    @Test("A push with a key takes effect once", arguments: Counters.Place.allCases)
    func keyed(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "merged")
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "again")
        #expect(
            await counters.outcome { () async throws(Failure) in try await counters.add(2, key: "k") } == "key-reused")
        #expect(try await counters.number() == 6)
        #expect(try await counters.entries() == 1)
    }

    /// Two clients that both count from 5 to 6 make 7.
    @Test("Each push without a key takes effect", arguments: Counters.Place.allCases)
    func unkeyed(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        for _ in 0..<3 { _ = try await counters.add(1) }
        #expect(try await counters.number() == 8)
    }

    @Test("A push whose client disconnects before the commit writes nothing", arguments: Counters.Place.allCases)
    func cancelled(_ place: Counters.Place) async throws {
        let caller = Caller()
        let counters = try await Counters(place) { caller.leave() }
        let outcome = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, key: "k", caller: caller)
        }
        #expect(outcome == "busy")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries() == 0)
    }

    /// The journal contains the outcome of a transaction whose COMMIT had no answer.
    @Test("A lost COMMIT is looked up in the journal", arguments: Counters.Place.allCases, [true, false])
    func lostCommit(_ place: Counters.Place, isCommitted: Bool) async throws {
        let counters = try await Counters(place)
        counters.engine.meet([.breaks(isCommitted: isCommitted)])
        let outcome = await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") }
        #expect(outcome == (isCommitted ? "again" : "merged"))
        #expect(try await counters.number() == 6)
        #expect(try await counters.entries() == 1)
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "again")
    }

    /// The client gets the unknown outcome, and the push does not run again.
    @Test("Without a key the outcome of a lost COMMIT is unknown", arguments: Counters.Place.allCases, [true, false])
    func lostCommitWithoutKey(_ place: Counters.Place, isCommitted: Bool) async throws {
        let counters = try await Counters(place)
        counters.engine.meet([.breaks(isCommitted: isCommitted)])
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1) } == "unknown-outcome")
        #expect(try await counters.number() == (isCommitted ? 6 : 5))
    }

    @Test("An in-doubt transaction is decided from the rows before its key is answered", arguments: [true, false])
    func inDoubt(_ isCommitted: Bool) async throws {
        let counters = try await Counters(.ahead)
        counters.engine.meet([.breaks(isCommitted: isCommitted)])
        _ = await counters.outcome { () async throws(Failure) in try await counters.add(1) }
        #expect(try await counters.entries() == 1, "the draft was written ahead")
        try await counters.service.recover(counters.active, until: .now + .seconds(60))
        #expect(try await counters.entries() == (isCommitted ? 1 : 0))
        _ = try await counters.add(1, to: 2)
        #expect(try await counters.number(2) == 6)
    }

    @Test("A transaction that conflicts with another one runs again", arguments: Counters.Place.allCases)
    func serialization(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        counters.engine.meet([.fails(.serialization), .fails(.disconnected), .fails(.serialization)])
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1, key: "k") } == "merged")
        #expect(try await counters.number() == 6)
        #expect(try await counters.entries() == 1)
    }

    @Test("A full database is reported", arguments: Counters.Place.allCases)
    func fullDatabase(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        // Once in the lane, and once alone.
        counters.engine.meet([.fails(.unwritable), .fails(.unwritable)])
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1) } == "cannot-write")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries() == 0)
        #expect(await counters.outcome { () async throws(Failure) in try await counters.add(1) } == "merged")
    }

    @Test("A rejected push is stored completely", arguments: Counters.Place.allCases)
    func rejected(_ place: Counters.Place) async throws {
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

    @Test("A preview stores nothing", arguments: Counters.Place.allCases)
    func preview(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        let outcome = await counters.outcome { () async throws(Failure) in try await counters.add(1, isPreview: true) }
        #expect(outcome == "merged")
        #expect(try await counters.number() == 5)
        #expect(try await counters.entries() == 0)
    }

    /// Two pushes that undo the same outcome have two keys.
    @Test("An outcome is undone once", arguments: Counters.Place.allCases)
    func singleEffect(_ place: Counters.Place) async throws {
        let counters = try await Counters(place)
        let effect = SingleEffect.undo(7, outcome: 0)
        let first = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, key: "undo:7", effects: [effect])
        }
        #expect(first == "merged")
        let second = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, to: 2, key: "undo:7 of a part", effects: [effect])
        }
        // A separate journal records the effect with the next transaction. Its callers check the effect before.
        #expect(place == .ahead || second == "taken-effect")
        #expect(try await counters.number() == 6)
    }

    @Test("Many simultaneous additions that were acknowledged are stored", arguments: Counters.Place.allCases)
    func manyAtOnce(_ place: Counters.Place) async throws {
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
