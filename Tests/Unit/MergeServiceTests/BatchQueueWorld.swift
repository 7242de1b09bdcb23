import MergeCore
import TestSupport

@testable import MergeService

/// A queue with its lanes and its watch, as `BatchQueue` runs them, without threads or time.
struct BatchQueueWorld: SteppedWorld {
    struct Item: BatchItem {
        let number: Int
        let deadline: ContinuousClock.Instant
        let isUnwanted: Bool
        let rows: Set<RowName>
        let kind: Int

        func goes(with first: Item) -> Bool { kind == first.kind }
    }

    /// The place of a lane in the code of `BatchQueue`.
    enum Lane {
        case asksForDeadline
        case borrows
        case takes
        case runs([Item])
        case lingers
        /// It got no connection, and answers all that wait for one.
        case drains
        case ended
    }

    enum Step {
        case enqueue(rows: [Int], kind: Int, milliseconds: Int, isUnwanted: Bool)
        case lane(Int)
        case noConnection(Int)
        case connectionBreaks(Int)
        case lingeringEnds(Int)
        case watch
        case clock(milliseconds: Int)
    }

    private let bounds: BatchQueueState<Item>.Bounds
    private var state: BatchQueueState<Item>
    private var now = ContinuousClock.now
    private var lanes: [Lane] = []
    private var signals = 0
    private var isWatched = false
    private var isCalm = false
    private var entered = 0
    private var ended: Set<Int> = []
    private var waiting: [Int: Item] = [:]
    private var choices: SeededRandom

    init(_ random: inout SeededRandom) {
        let lanes = Int.random(in: 1...3, using: &random)
        bounds = .init(
            batch: Int.random(in: 1...4, using: &random), lanes: lanes,
            lanesHeldUp: lanes + Int.random(in: 0...2, using: &random), waiting: Int.random(in: 3...12, using: &random))
        state = BatchQueueState(bounds, now: now)
        choices = SeededRandom(seed: Int.random(in: 0...Int.max, using: &random))
    }

    mutating func calm() { isCalm = true }

    var isDone: Bool { isCalm && ended.count == entered && state.waiting == 0 }

    var steps: [Step] {
        var random = choices
        var steps: [Step] = [.clock(milliseconds: Int.random(in: 1...30, using: &random))]
        for (index, lane) in lanes.enumerated() {
            switch lane {
            case .ended: continue
            case .lingers:
                steps.append(.lingeringEnds(index))
                if signals > 0 { steps.append(.lane(index)) }
            case .borrows:
                steps.append(.lane(index))
                if !isCalm { steps.append(.noConnection(index)) }
            case .runs:
                steps.append(.lane(index))
                if !isCalm { steps.append(.connectionBreaks(index)) }
            default: steps.append(.lane(index))
            }
        }
        if isWatched { steps.append(.watch) }
        if !isCalm {
            for _ in 0..<3 { steps.append(Self.entry(&random)) }
        }
        return steps
    }

    private static func entry(_ random: inout SeededRandom) -> Step {
        var rows: [Int] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) { rows.append(Int.random(in: 0...4, using: &random)) }
        let isShort = Int.random(in: 0...4, using: &random) == 0
        return .enqueue(
            rows: rows, kind: Int.random(in: 0...3, using: &random) / 3, milliseconds: isShort ? 20 : 600_000,
            isUnwanted: Int.random(in: 0...9, using: &random) == 0)
    }

    mutating func take(_ step: Step) throws(WorldFault) {
        _ = choices.next()
        switch step {
        case .clock(let milliseconds): now += .milliseconds(milliseconds)
        case .enqueue(let rows, let kind, let milliseconds, let isUnwanted):
            enter(
                Item(
                    number: entered, deadline: now + .milliseconds(milliseconds), isUnwanted: isUnwanted,
                    rows: Set(
                        rows.map { RowName(table: "t", columns: ["id"], key: RecordKey([.integer(Int128($0))])) }),
                    kind: kind
                ))
        case .lane(let index): lanes[index] = try next(lanes[index])
        case .noConnection(let index): lanes[index] = .drains
        case .connectionBreaks(let index):
            if case .runs(let batch) = lanes[index] { try end(batch) }
            lanes[index] = .asksForDeadline
        case .lingeringEnds(let index): lanes[index] = afterLingering(wasCalled: false)
        case .watch: try look()
        }
        try check()
    }

    private mutating func enter(_ item: Item) {
        switch state.enqueue(item) {
        case .refuse: return
        case .openLane: lanes.append(.asksForDeadline)
        case .callLane: signals += 1
        case .wait: break
        }
        if state.beginWatch() { isWatched = true }
        waiting[item.number] = item
        entered += 1
    }

    private mutating func next(_ lane: Lane) throws(WorldFault) -> Lane {
        switch lane {
        case .asksForDeadline:
            try drop()
            return state.deadlineOfLane() == nil ? .ended : .borrows
        case .borrows: return .takes
        case .takes:
            try drop()
            return place(after: state.takeBatch(now: now, mayLinger: true))
        case .drains:
            try drop()
            guard case .run(let batch) = state.takeBatch(now: now, mayLinger: false) else { return .asksForDeadline }
            try end(batch)
            return .drains
        case .runs(let batch):
            try end(batch)
            return .takes
        case .lingers:
            signals -= 1
            return afterLingering(wasCalled: true)
        case .ended: return .ended
        }
    }

    private mutating func afterLingering(wasCalled: Bool) -> Lane {
        place(after: state.takeAfterLingering(now: now, wasCalled: wasCalled))
    }

    private mutating func place(after turn: BatchQueueState<Item>.Turn) -> Lane {
        switch turn {
        case .run(let batch):
            for item in batch { waiting[item.number] = nil }
            return .runs(batch)
        case .linger: return .lingers
        case .end: return .asksForDeadline
        }
    }

    private mutating func look() throws(WorldFault) {
        try drop()
        switch state.look(now: now) {
        case .openLane: lanes.append(.asksForDeadline)
        case .lookAgain: break
        case .end: isWatched = false
        }
    }

    private mutating func drop() throws(WorldFault) {
        for item in state.dropOverdue(now: now) {
            guard item.deadline <= now || item.isUnwanted else {
                throw WorldFault("item \(item.number) was not overdue")
            }
            try note(item)
        }
    }

    private mutating func end(_ batch: [Item]) throws(WorldFault) {
        state.finish(batch, now: now)
        for item in batch { try note(item) }
    }

    private mutating func note(_ item: Item) throws(WorldFault) {
        waiting[item.number] = nil
        guard ended.insert(item.number).inserted else { throw WorldFault("item \(item.number) ended twice") }
    }

    private func check() throws(WorldFault) {
        var busy: Set<RowName> = []
        var running = 0
        var open = 0
        var areAllHeldUp = true
        for lane in lanes {
            if case .ended = lane { continue }
            open += 1
            guard case .runs(let batch) = lane else {
                areAllHeldUp = false
                continue
            }
            guard batch.count <= bounds.batch else { throw WorldFault("a batch has \(batch.count) items") }
            running += batch.count
            for item in batch {
                guard item.kind == batch[0].kind else { throw WorldFault("a batch has items of two kinds") }
                guard busy.isDisjoint(with: item.rows) else { throw WorldFault("a row runs twice at once") }
                busy.formUnion(item.rows)
            }
        }
        guard open <= bounds.lanesHeldUp else { throw WorldFault("\(open) lanes are open") }
        guard state.waiting + running + ended.count == entered else { throw WorldFault("an item is missing") }
        let canRun = waiting.values.contains { busy.isDisjoint(with: $0.rows) }
        // Running batches may wait for the lock of another program for any time.
        if areAllHeldUp, canRun, !isWatched { throw WorldFault("an item could run, and no lane will come") }
    }
}
