import MergeCore
import Testing

@testable import MergeService

/// The queue of pushes and reads, without time, threads or a database.
@Suite struct BatchQueueStateTests {
    struct Item: BatchItem, Equatable, CustomStringConvertible {
        let number: Int
        var deadline = ContinuousClock.now + .seconds(600)
        var isUnwanted = false
        var rows: Set<RowReference> = []
        var kind = 0

        init(_ number: Int, rows: [Int] = []) {
            self.number = number
            self.rows = Set(rows.map { RowReference(table: "t", key: RecordKey([.integer(Int128($0))])) })
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

    @Test func theFirstOpensALaneAndTheSecondHasItWatched() {
        var state = state()
        #expect(state.enqueue(Item(1)) == .openLane)
        #expect(state.enqueue(Item(2)) == .watch)
        #expect(state.enqueue(Item(3)) == .wait)
        #expect(batch(state.takeBatch(now: start, mayLinger: true)) == [1, 2, 3])
    }

    @Test func moreThanTheBoundAreRefused() {
        var state = state(waiting: 2)
        _ = state.enqueue(Item(1))
        _ = state.enqueue(Item(2))
        #expect(state.enqueue(Item(3)) == .refuse)
        #expect(state.waiting == 2)
        _ = state.takeBatch(now: start, mayLinger: false)
        #expect(state.enqueue(Item(4)) != .refuse)
    }

    @Test func aBatchIsBoundedAndOldestFirst() {
        var state = state(batch: 2)
        for number in 1...5 { _ = state.enqueue(Item(number)) }
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [1, 2])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [3, 4])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [5])
    }

    /// Two items of one row never share a batch, nor run at once.
    @Test func oneRowIsInOneBatchAtATime() {
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

    @Test func onlyWhatGoesWithTheFirstSharesItsBatch() {
        var state = state()
        var other = Item(2)
        other.kind = 1
        for item in [Item(1), other, Item(3)] { _ = state.enqueue(item) }
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [1, 3])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [2])
    }

    @Test func whatIsLateOrUnwantedIsDropped() {
        var state = state()
        var late = Item(1)
        late.deadline = start
        var unwanted = Item(2)
        unwanted.isUnwanted = true
        for item in [late, unwanted, Item(3)] { _ = state.enqueue(item) }
        #expect(state.dropOverdue(now: start).map(\.number) == [1, 2])
        #expect(batch(state.takeBatch(now: start, mayLinger: false)) == [3])
    }

    @Test func aLaneThatLingersIsCalledOnce() {
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

    @Test func aLaneMoreIsOpenedWhereTheOthersAreHeldUp() {
        var state = state()
        let first = Item(1, rows: [1])
        _ = state.enqueue(first)
        _ = state.takeBatch(now: start, mayLinger: true)
        #expect(state.enqueue(Item(2)) == .watch)
        #expect(state.look(now: start + .milliseconds(5)) == .lookAgain)
        #expect(state.look(now: start + .milliseconds(25)) == .openLane)
        #expect(state.look(now: start + .milliseconds(50)) == .lookAgain, "there may be two")
        #expect(batch(state.takeBatch(now: start, mayLinger: true)) == [2])
        #expect(state.look(now: start + .milliseconds(50)) == .end)
        #expect(state.enqueue(Item(3)) == .watch, "nobody looks any more")
    }

    @Test func aLaneKnowsTheEarliestDeadline() {
        var state = state()
        var second = Item(2)
        second.deadline = start + .seconds(1)
        _ = state.enqueue(Item(1))
        _ = state.enqueue(second)
        #expect(state.deadlineOfLane() == start + .seconds(1))
    }

    /// Thousands of random histories: nothing is lost, taken twice, or run beside another of its rows.
    @Test(arguments: 0..<200) func everyItemComesOutOnce(_ seed: Int) {
        var random = Random(UInt64(seed))
        var state = state(batch: 4, lanes: 2, lanesHeldUp: 4, waiting: 12)
        var running: [[Item]] = []
        var entered: Set<Int> = []
        var left: Set<Int> = []
        for number in 0..<300 {
            switch random.next(4) {
            case 0, 1:
                let item = Item(number, rows: (0..<random.next(3)).map { _ in random.next(6) })
                if state.enqueue(item) != .refuse { entered.insert(number) }
            case 2:
                guard case .run(let items) = state.takeBatch(now: start, mayLinger: false) else { break }
                for item in items {
                    #expect(left.insert(item.number).inserted, "an item was taken twice")
                    let others = running.flatMap { $0 } + items.filter { $0 != item }
                    #expect(others.allSatisfy { $0.rows.isDisjoint(with: item.rows) })
                }
                #expect(items.count <= 4)
                running.append(items)
            default:
                if running.isEmpty { break }
                state.finish(running.remove(at: random.next(running.count)), now: start)
            }
            #expect(state.waiting == entered.count - left.count)
        }
        for batch in running { state.finish(batch, now: start) }
        while case .run(let items) = state.takeBatch(now: start, mayLinger: false) {
            left.formUnion(items.map(\.number))
            state.finish(items, now: start)
        }
        #expect(left == entered)
    }
}

/// A linear congruential generator, so that a seed repeats its history.
struct Random {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 2 &+ 1 }

    mutating func next(_ bound: Int) -> Int {
        // Constants of Knuth's MMIX.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
