import TestSupport
import Testing

/// `PoolState` in all orders of callers, openings and the end of the pool.
@Suite struct PoolHistoryTests {
    @Test("Each caller gets a connection or an error")
    func histories() {
        let failed = Histories.run(0..<Histories.count(5_000)) { PoolWorld(&$0) }
        #expect(failed == nil, "\(failed?.description ?? "")")
    }
}
