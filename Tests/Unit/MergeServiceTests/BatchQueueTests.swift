import Dispatch
import RecordStore
import Testing

@testable import MergeService

/// The shell around the queue's state: lanes, callers that wait, and connections that cannot be had.
@Suite(.timeLimit(.minutes(1))) struct BatchQueueTests {
    private struct Item: BatchItem {
        let number: Int
        var deadline = ContinuousClock.now + .seconds(600)
        var caller = Caller()
        var isUnwanted: Bool { caller.hasLeft }
        var rows: Set<RowName> { [] }

        func goes(with first: Item) -> Bool { true }
    }

    /// Batches that each wait until the test ends them.
    private final class Work: BatchWork {
        let engine: any RecordEngine
        let begun: AsyncStream<Int>
        private let begin: AsyncStream<Int>.Continuation
        let end = DispatchSemaphore(value: 0)
        var purpose: TransactionKind { .write }

        init(_ engine: StubEngine = StubEngine()) {
            self.engine = engine
            (begun, begin) = AsyncStream.makeStream()
        }

        func run(_ items: [Item], on connection: any StoreConnection) throws(StoreError) -> [Int] {
            for item in items { begin.yield(item.number) }
            end.wait()
            return items.map(\.number)
        }

        func answers(to items: [Item], after error: StoreError) throws(StoreError) -> [Int] {
            if error.kind == .unknownOutcome { throw error }
            return items.map { -$0.number }
        }

        func laneHasClosed() async {}
    }

    private static func queue(_ work: Work, waiting: Int) -> BatchQueue<Work> {
        var limits = MergeLimits()
        limits.waiting = waiting
        limits.coalesced = 1
        return BatchQueue(limits, lanesHeldUp: 1, work)
    }

    /// The fate of an item: its number, or the kind of the error.
    private static func outcome(_ queue: BatchQueue<Work>, _ item: Item) async -> String {
        do throws(StoreError) {
            return "\(try await queue.submit(item))"
        } catch {
            return "\(error.kind)"
        }
    }

    private static func fill(_ queue: BatchQueue<Work>, to count: Int) async {
        while queue.waiting < count { await Task.yield() }
    }

    @Test("Items beyond the limit are refused")
    func limit() async {
        let work = Work()
        let queue = Self.queue(work, waiting: 2)
        var begun = work.begun.makeAsyncIterator()
        async let first = Self.outcome(queue, Item(number: 1))
        #expect(await begun.next() == 1)
        async let second = Self.outcome(queue, Item(number: 2))
        await Self.fill(queue, to: 1)
        async let third = Self.outcome(queue, Item(number: 3))
        await Self.fill(queue, to: 2)
        #expect(await Self.outcome(queue, Item(number: 4)) == "overloaded")
        for _ in 0..<3 { work.end.signal() }
        #expect(await [first, second, third] == ["1", "2", "3"])
        #expect(queue.waiting == 0)
    }

    /// Also while the only batch does not end.
    @Test("Late and cancelled items are never run", arguments: [false, true])
    func dropped(_ hasLeft: Bool) async {
        let work = Work()
        let queue = Self.queue(work, waiting: 10)
        var begun = work.begun.makeAsyncIterator()
        async let first = Self.outcome(queue, Item(number: 1))
        #expect(await begun.next() == 1)
        var item = Item(number: 2)
        if hasLeft { item.caller.leave() } else { item.deadline = .now }
        #expect(await Self.outcome(queue, item) == "busy")
        work.end.signal()
        #expect(await first == "1")
        async let third = Self.outcome(queue, Item(number: 3))
        #expect(await begun.next() == 3)
        work.end.signal()
        #expect(await third == "3")
    }

    @Test("Without a connection the work decides the end of all items")
    func noConnection() async {
        let busy = Work(StubEngine(failure: StoreError(.busy, "no connection")))
        #expect(await Self.outcome(Self.queue(busy, waiting: 2), Item(number: 5)) == "-5")
        let unknown = Work(StubEngine(failure: StoreError(.unknownOutcome, "who knows")))
        #expect(await Self.outcome(Self.queue(unknown, waiting: 2), Item(number: 5)) == "unknownOutcome")
    }
}
