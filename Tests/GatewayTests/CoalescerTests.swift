@testable import MergeService
import RecordStore
import Synchronization
import Testing

/// The queue of those who wait for a transaction is bounded, and nobody is run whom nobody waits for.
@Suite struct CoalescerTests {
    private struct Item: Shareable {
        typealias Answer = Int

        let number: Int
        var deadline = ContinuousClock.now + .seconds(600)
        var caller = Caller()
        var rows: Set<RowReference> { [] }

        func goes(with first: Item) -> Bool { true }
    }

    /// Transactions that each wait until the test lets them end.
    private final class Work: SharedWork {
        let begun: AsyncStream<Int>
        private let begin: AsyncStream<Int>.Continuation
        private let ends: AsyncStream<Void>
        let end: AsyncStream<Void>.Continuation

        init() {
            (begun, begin) = AsyncStream.makeStream()
            (ends, end) = AsyncStream.makeStream()
        }

        func run<Batch: Sendable>(
            deadline: ContinuousClock.Instant, next: @escaping @Sendable (_ mayWait: Bool) -> Batch?,
            items: @escaping @Sendable (Batch) -> [Item],
            done: @escaping @Sendable (Batch, Result<[Verdict<Int>], StoreError>) -> Void
        ) async throws(StoreError) {
            var ends = ends.makeAsyncIterator()
            while let batch = next(false) {
                for item in items(batch) { begin.yield(item.number) }
                _ = await ends.next()
                done(batch, .success(items(batch).map { .answered($0.number) }))
            }
        }
    }

    private static func coalescer(_ work: Work, waiting: Int) -> Coalescer<Work> {
        var limits = MergeLimits()
        limits.waiting = waiting
        limits.coalesced = 1
        limits.maximumLanes = 1
        return Coalescer(limits, work)
    }

    /// What became of an item: its number, or the kind of the error.
    private static func outcome(_ coalescer: Coalescer<Work>, _ item: Item) async -> String {
        do throws(StoreError) {
            guard case .answered(let number) = try await coalescer.submit(item) else { return "alone" }
            return "\(number)"
        } catch {
            return "\(error.kind)"
        }
    }

    private static func fill(_ coalescer: Coalescer<Work>, to count: Int) async {
        while coalescer.waiting < count { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(1))) func moreThanTheBoundAreTurnedAway() async {
        let work = Work()
        let coalescer = Self.coalescer(work, waiting: 2)
        var begun = work.begun.makeAsyncIterator()
        async let first = Self.outcome(coalescer, Item(number: 1))
        #expect(await begun.next() == 1)
        async let second = Self.outcome(coalescer, Item(number: 2))
        await Self.fill(coalescer, to: 1)
        async let third = Self.outcome(coalescer, Item(number: 3))
        await Self.fill(coalescer, to: 2)
        #expect(await Self.outcome(coalescer, Item(number: 4)) == "overloaded")
        for _ in 0..<3 { work.end.yield() }
        #expect(await [first, second, third] == ["1", "2", "3"])
        #expect(coalescer.waiting == 0)
    }

    /// Also while the only transaction goes on and on.
    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func whatIsLateOrUnwantedNeverRuns(_ hasLeft: Bool) async {
        let work = Work()
        let coalescer = Self.coalescer(work, waiting: 10)
        var begun = work.begun.makeAsyncIterator()
        async let first = Self.outcome(coalescer, Item(number: 1))
        #expect(await begun.next() == 1)
        var item = Item(number: 2)
        if hasLeft { item.caller.leave() } else { item.deadline = .now }
        #expect(await Self.outcome(coalescer, item) == "busy")
        work.end.yield()
        #expect(await first == "1")
        async let third = Self.outcome(coalescer, Item(number: 3))
        #expect(await begun.next() == 3)
        work.end.yield()
        #expect(await third == "3")
    }
}
