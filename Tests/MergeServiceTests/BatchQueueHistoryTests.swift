import TestSupport
import Testing

/// `BatchQueueState` in all orders in which lanes, callers and the clock may meet.
@Suite struct BatchQueueHistoryTests {
    @Test func everyItemEndsOnce() {
        let failed = Histories.run(0..<Histories.count(3_000)) { BatchQueueWorld(&$0) }
        #expect(failed == nil, "\(failed?.description ?? "")")
    }
}
