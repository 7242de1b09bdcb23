import MergeCore
import MergeWire
import Testing

/// The statuses of HTTP that pushes are answered with.
@Suite struct StatusTests {
    @Test("Each status of a push has a status of HTTP")
    func statuses() {
        #expect([PushStatus.merged, .partial, .rejected, .failed].map(\.httpStatus) == [200, 207, 409, 422])
    }
}
