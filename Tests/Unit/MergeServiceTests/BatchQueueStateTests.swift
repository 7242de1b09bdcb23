import MergeCore
import Testing

@testable import MergeService

/// The queue of pushes and reads, without time, threads or a database.
@Suite struct BatchQueueStateTests {
    struct Item: BatchItem, Equatable, CustomStringConvertible {
        let number: Int
        var deadline = ContinuousClock.now + .seconds(600)
        var isUnwanted = false
        var rows: Set<RowName> = []
        var kind = 0

        init(_ number: Int, rows: [Int] = []) {
            self.number = number
            self.rows = Set(rows.map { RowName(table: "t", columns: ["id"], key: RecordKey([.integer(Int128($0))])) })
        }

        func goes(with first: Item) -> Bool { kind == first.kind }

        var description: String { "\(number)" }
    }

    private let start = ContinuousClock.now

    private func state(
        batch: Int = 3, lanes: Int = 1, lanesHeldUp: Int = 2, waiting: Int = 10
    ) -> BatchQueueState<Item> {
        BatchQueueState(
            BatchQueueState<Item>.Bounds(batch: batch, lanes: lanes, lanesHeldUp: lanesHeldUp, waiting: waiting),
            now: start)
    }

    private func batch(_ turn: BatchQueueState<Item>.Turn) -> [Int]? {
        if case .run(let items) = turn { items.map(\.number) } else { nil }
    }

    @Test("The first item opens a lane, and waiting items share one watch of it")
    func firstItems() {
        var state = state()
        #expect(state.enqueue(Item(1)) == .openLane)
        #expect(state.beginWatch() == true)
        #expect(state.enqueue(Item(2)) == .wait)
        #expect(state.beginWatch() == false, "the watch is running")
        #expect(state.enqueue(Item(3)) == .wait)
        #expect(batch(state.takeBatch(now: start, mayLinger: true)) == [1, 2, 3])
    }

    @Test("Items beyond the limit are refused")
    func limit() {
        var state = state(waiting: 2)
        _ = state.enqueue(Item(1))
        _ = state.enqueue(Item(2))
        #expect(state.enqueue(Item(3)) == .refuse)
        #expect(state.waiting == 2)
        _ = state.takeBatch(now: start, mayLinger: false)
        #expect(state.enqueue(Item(4)) != .refuse)
    }

    @Test("A batch is limited and has the oldest items")
    func batches() {
        var state = state(batch: 2)
        for number in 1...5 { _ = state.enqueue(Item(number)) }
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [1, 2])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [3, 4])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [5])
    }

    /// Two items of one row never share a batch, nor run at once.
    @Test("One row is in one batch at a time")
    func rows() {
        var state = state(batch: 5)
        let items = [Item(1, rows: [7]), Item(2, rows: [7, 8]), Item(3, rows: [9]), Item(4, rows: [8])]
        for item in items { _ = state.enqueue(item) }
        // The fourth may pass the second, of which it shares no batch: they have no order.
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [1, 3, 4])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == nil)
        #expect(state.deadlineOfLane() == nil, "nobody could run")
        state.finish([items[0], items[2]], now: start)
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == nil, "row 8 is still busy")
        state.finish([items[3]], now: start)
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [2])
    }

    @Test("Only items that fit the first one share its batch")
    func kinds() {
        var state = state()
        var other = Item(2)
        other.kind = 1
        for item in [Item(1), other, Item(3)] { _ = state.enqueue(item) }
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [1, 3])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [2])
    }

    @Test("Late and cancelled items are dropped")
    func dropped() {
        var state = state()
        var late = Item(1)
        late.deadline = start
        var unwanted = Item(2)
        unwanted.isUnwanted = true
        for item in [late, unwanted, Item(3)] { _ = state.enqueue(item) }
        #expect(state.dropOverdue(now: start).map(\.number) == [1, 2])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [3])
    }

    @Test("A lingering lane is called once")
    func lingering() {
        var state = state()
        _ = state.enqueue(Item(1))
        _ = state.takeBatch(now: start, mayLinger: true)
        guard case .linger = state.takeBatch(now: start, mayLinger: true) else {
            Issue.record("the lane does not linger")
            return
        }
        #expect(state.enqueue(Item(2)) == .callLane)
        #expect(state.enqueue(Item(3)) == .wait)
        #expect(batch(state.takeAfterLingering(now: start, wasCalled: true)) == [2, 3])
        _ = state.takeBatch(now: start, mayLinger: true)
        guard case .end = state.takeAfterLingering(now: start, wasCalled: false) else {
            Issue.record("the lane does not end")
            return
        }
        #expect(state.deadlineOfLane() == nil)
        #expect(state.enqueue(Item(4)) == .openLane, "the lane was closed")
    }

    @Test("Another lane is opened if the others are blocked")
    func blockedLanes() {
        var state = state()
        let first = Item(1, rows: [1])
        _ = state.enqueue(first)
        _ = state.takeBatch(now: start, mayLinger: true)
        #expect(state.enqueue(Item(2)) == .wait)
        #expect(state.beginWatch() == true)
        #expect(state.look(now: start + .milliseconds(5)) == .lookAgain)
        #expect(state.look(now: start + .milliseconds(25)) == .openLane)
        #expect(state.look(now: start + .milliseconds(50)) == .lookAgain, "there may be two")
        #expect(batch(state.takeBatch(now: start, mayLinger: true)) == [2])
        #expect(state.look(now: start + .milliseconds(50)) == .end)
        #expect(state.beginWatch() == false, "no item waits")
        #expect(state.enqueue(Item(3)) == .wait)
        #expect(state.beginWatch() == true)
    }

    @Test("A lane has the earliest deadline")
    func deadline() {
        var state = state()
        var second = Item(2)
        second.deadline = start + .seconds(1)
        _ = state.enqueue(Item(1))
        _ = state.enqueue(second)
        #expect(state.deadlineOfLane() == start + .seconds(1))
    }
}
