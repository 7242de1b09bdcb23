import Testing

@testable import RecordStore

/// The policy for transactions that run again.
@Suite struct RetryPolicyTests {
    /// Runs that end with some errors in sequence, and then with an answer.
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

    @Test("A transaction that conflicts with another one runs again")
    func repeated() async {
        #expect(await Self.runs([.serialization, .serialization, .fileLocked]) == (4, "done"))
        #expect(await Self.runs([.disconnected, .disconnected]) == (3, "done"))
    }

    /// A transaction that waited for a lock as long as permitted is not repeated.
    @Test("The number of runs is limited")
    func limits() async {
        #expect(await Self.runs([.locked]) == (1, "busy"))
        #expect(await Self.runs(Array(repeating: .disconnected, count: 9)) == (3, "unavailable"))
        var policy = RetryPolicy()
        for _ in 0..<20 { #expect(policy.pause(after: .serialization) != nil) }
        #expect(policy.pause(after: .serialization) == nil)
        for _ in 0..<10_000 { #expect(policy.pause(after: .fileLocked) != nil, "until the deadline") }
    }

    @Test("Each kind of error is counted separately")
    func kinds() async {
        #expect(await Self.runs([.serialization, .serialization, .disconnected, .disconnected]) == (5, "done"))
    }

    @Test("No transaction runs again after its deadline")
    func deadline() async {
        #expect(await Self.runs([.fileLocked], until: .now) == (1, "busy"))
        #expect(await Self.runs([.serialization], until: .now) == (1, "busy"))
        #expect(await Self.runs([.disconnected], until: .now) == (1, "unavailable"))
    }

    /// In particular a transaction with an unknown outcome.
    @Test("All other errors are reported at once")
    func otherErrors() async {
        let kinds: [StoreError.Kind] = [
            .unknownOutcome, .unavailable, .unwritable, .busy, .overloaded, .constraint(ConstraintViolation(.unique)),
            .schemaChanged, .denied, .unreadable, .tooLarge, .knownKey, .takenEffect, .other,
        ]
        for kind in kinds { #expect(await Self.runs([kind]) == (1, "\(kind)")) }
    }
}
