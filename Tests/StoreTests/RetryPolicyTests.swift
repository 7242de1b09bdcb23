import Testing

@testable import RecordStore

/// The one policy on what runs again.
@Suite struct RetryPolicyTests {
    /// Runs that end with some errors, one after the other, and then come to an answer.
    private static func runs(
        _ kinds: [StoreError.Kind], until deadline: ContinuousClock.Instant = .now + .seconds(600)
    ) async -> (count: Int, outcome: String) {
        var left = kinds[...]
        var count = 0
        do throws(StoreError) {
            try await RetryPolicy.run(until: deadline) { () async throws(StoreError) in
                count += 1
                if let kind = left.popFirst() { throw StoreError(kind, "no") }
            }
            return (count, "done")
        } catch {
            return (count, "\(error.kind)")
        }
    }

    @Test func whatMetAnotherRunsAgain() async {
        #expect(await Self.runs([.serialization, .serialization, .fileLocked]) == (4, "done"))
        #expect(await Self.runs([.disconnected, .disconnected]) == (3, "done"))
    }

    /// A transaction that waited the whole time that one may wait for a lock is told so.
    @Test func theNumberOfRunsIsBounded() async {
        #expect(await Self.runs([.locked]) == (1, "busy"))
        #expect(await Self.runs(Array(repeating: .disconnected, count: 9)) == (3, "unavailable"))
        var policy = RetryPolicy()
        for _ in 0..<20 { #expect(policy.pause(after: .serialization) != nil) }
        #expect(policy.pause(after: .serialization) == nil)
        for _ in 0..<10_000 { #expect(policy.pause(after: .fileLocked) != nil, "until the deadline") }
    }

    /// Each kind has a number of its own.
    @Test func oneKindDoesNotUseUpAnother() async {
        #expect(await Self.runs([.serialization, .serialization, .disconnected, .disconnected]) == (5, "done"))
    }

    @Test func nothingRunsAgainBehindItsDeadline() async {
        #expect(await Self.runs([.fileLocked], until: .now) == (1, "busy"))
        #expect(await Self.runs([.serialization], until: .now) == (1, "busy"))
        #expect(await Self.runs([.disconnected], until: .now) == (1, "unavailable"))
    }

    /// Above all nothing of which nobody knows whether it was committed.
    @Test func everythingElseIsToldAtOnce() async {
        let kinds: [StoreError.Kind] = [
            .unknownOutcome, .unavailable, .unwritable, .busy, .overloaded, .constraint(ConstraintViolation(.unique)),
            .schemaChanged, .denied, .unreadable, .tooLarge, .knownKey, .takenEffect, .other,
        ]
        for kind in kinds { #expect(await Self.runs([kind]) == (1, "\(kind)")) }
    }
}
