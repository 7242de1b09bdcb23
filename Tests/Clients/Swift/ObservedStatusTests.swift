import FieldMergeTesting
import Observation
import Testing

@testable import FieldMergeClient

/// The status for views.
@Suite(.timeLimit(.minutes(1))) struct ObservedStatusTests {
    @Test("An observer gets each edit") @MainActor
    func edits() async throws {
        let store = try await StoreTests.synced(StoreTests.gateway())
        let status = await ObservedStatus(of: store)
        #expect(status.current.unsent == 0)
        try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Kim" }
        // Looking and beginning to observe are one step of the main actor, so no change falls between them.
        while status.current.unsent != 1 {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = status.current
                } onChange: {
                    continuation.resume()
                }
            }
        }
        #expect(status.current == (await store.status))
        await store.close()
    }
}
