import TestSupport
import Testing

/// `BatchQueueState` in all orders of lanes, callers and the clock.
@Suite struct BatchQueueHistoryTests {
    @Test("Each item ends once")
    func histories() {
        let failed = Histories.run(0..<Histories.count(3_000)) { BatchQueueWorld(&$0) }
        #expect(failed == nil, "\(failed?.description ?? "")")
    }
}
