import TestSupport
import Testing

/// `PoolState` in all orders in which callers, openings and the end of the pool may meet.
@Suite struct PoolHistoryTests {
    @Test func everyCallerGetsAConnectionOrAnAnswer() {
        let failed = Histories.run(0..<Histories.count(5_000)) { PoolWorld(&$0) }
        #expect(failed == nil, "\(failed?.description ?? "")")
    }
}
