import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// A `RefusedPush` is stored with its records, without them, or not at all.
@Suite(.timeLimit(.minutes(1))) struct RefusedPushTests {
    private static let kept = "body IS NOT NULL"

    /// The first transaction is rejected, and the second one stores the push.
    private static func rejected(
        storing fault: FaultyEngine.Fault, again next: FaultyEngine.Fault = .passes
    ) async throws -> (counters: Counters, outcome: String) {
        let counters = try await Counters(.together, policy: .reject)
        counters.engine.meet([.passes, fault, next])
        let outcome = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, base: 3, key: "k")
        }
        return (counters, outcome)
    }

    @Test("If the database fails for now, the client sends the push again") func passingFault() async throws {
        let (counters, outcome) = try await Self.rejected(storing: .fails(.unavailable))
        #expect(outcome == "database-unavailable")
        #expect(try await counters.entries() == 0)
        let again = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, base: 3, key: "k")
        }
        #expect(again == "rejected")
        #expect(try await counters.entries(Self.kept) == 1)
        #expect(try await counters.number() == 5)
    }

    @Test("If its records can never be read, the push is stored without them") func finalFault() async throws {
        let (counters, outcome) = try await Self.rejected(storing: .fails(.unreadable))
        #expect(outcome == "rejected")
        #expect(try await counters.entries(Self.kept) == 1)
    }

    @Test("A push that cannot be stored has no final answer") func neverStored() async throws {
        let (counters, outcome) = try await Self.rejected(
            storing: .fails(.unreadable), again: .fails(.unreadable))
        #expect(outcome == "cannot-write")
        #expect(try await counters.entries() == 0)
    }

    @Test("A refused preview is not stored", arguments: Counters.Place.allCases)
    func preview(_ place: Counters.Place) async throws {
        let counters = try await Counters(place, policy: .reject)
        let outcome = await counters.outcome { () async throws(Failure) in
            try await counters.add(1, base: 3, isPreview: true)
        }
        #expect(outcome == "rejected")
        #expect(try await counters.entries() == 0)
    }

    @Test("Two refused pushes of one record are two entries", arguments: Counters.Place.allCases)
    func twoPushes(_ place: Counters.Place) async throws {
        let counters = try await Counters(place, policy: .reject)
        for key in ["a", "b"] {
            let outcome = await counters.outcome { () async throws(Failure) in
                try await counters.add(1, base: 3, key: key)
            }
            #expect(outcome == "rejected")
        }
        #expect(try await counters.entries(Self.kept) == 2)
    }
}
