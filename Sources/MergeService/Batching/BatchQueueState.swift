/// Items that wait for a transaction, and the lanes that run them.
///
/// A lane keeps its connection and runs batches as long as items wait, so the database never waits for the scheduler.
/// The first item opens a lane at once. Items with a common row never share a batch and never run at the same time.
///
/// The functions are pure: they return actions, so tests need no time, threads or database. (The idea comes from
/// `PoolStateMachine` in postgres-nio.)
struct BatchQueueState<Item: BatchItem> {
    struct Bounds {
        /// The most items of one batch.
        var batch: Int
        /// The most lanes if none is stalled.
        var lanes: Int
        /// The most lanes if some wait for locked rows.
        var lanesHeldUp: Int
        var waiting: Int
        /// The number of items at the head of the queue that a batch may select.
        var lookAhead = 256
        /// A batch that takes longer waits for another transaction.
        var stall = Duration.milliseconds(20)
    }

    private let bounds: Bounds
    private var queue: [Item] = []
    /// Rows of the running batches.
    private var busy: Set<RowName> = []
    private var lanes = 0
    /// Lanes that wait on their connections for the next item.
    private var lingering = 0
    /// The number of lingering lanes that were signalled.
    private var called = 0
    /// The time of the last start or end of a batch; if it is long ago, the lanes are stalled.
    private var lastMove: ContinuousClock.Instant
    private var isWatched = false
    /// The batches that have ended.
    private(set) var sizes = BatchSizes()

    init(_ bounds: Bounds, now: ContinuousClock.Instant) {
        self.bounds = bounds
        lastMove = now
    }

    var waiting: Int { queue.count }

    /// The action for a new item.
    enum Entry: Equatable {
        /// Too many items wait.
        case refuse
        case openLane
        /// A lingering lane is signalled.
        case callLane
        case wait
    }

    /// Adds an item to the queue.
    mutating func enqueue(_ item: Item) -> Entry {
        guard queue.count < bounds.waiting else { return .refuse }
        queue.append(item)
        if lingering > 0 {
            // A signalled lane runs all items that wait by then.
            guard called < lingering else { return .wait }
            called += 1
            return .callLane
        }
        if lanes < bounds.lanes {
            lanes += 1
            return .openLane
        }
        return .wait
    }

    /// Begins the watch over the lanes, which lasts until no item waits.
    ///
    /// A lane may end while an item waits, if the item's rows are busy. So the watch begins with the first waiting
    /// item.
    ///
    /// - Returns: false if the watch is running already, or no item waits.
    mutating func beginWatch() -> Bool {
        guard !isWatched, !queue.isEmpty else { return false }
        isWatched = true
        return true
    }

    /// Removes and returns the items whose deadline has passed or whose caller has disconnected.
    mutating func dropOverdue(now: ContinuousClock.Instant) -> [Item] {
        guard queue.contains(where: { $0.isOverdue(now) }) else { return [] }
        let dropped = queue.filter { $0.isOverdue(now) }
        queue.removeAll { $0.isOverdue(now) }
        return dropped
    }

    /// Returns the earliest deadline of the waiting items.
    ///
    /// - Returns: nil if none of them can run; then the lane is closed.
    mutating func deadlineOfLane() -> ContinuousClock.Instant? {
        // A batch does not select later items either.
        let earliest = queue.prefix(bounds.lookAhead).filter { busy.isDisjoint(with: $0.rows) }.map(\.deadline).min()
        if earliest == nil { lanes -= 1 }
        return earliest
    }

    /// The next action of a lane.
    enum Turn {
        case run([Item])
        /// It waits on its connection for a signal or a short time.
        case linger
        /// It releases its connection.
        case end
    }

    /// Dequeues the oldest items that can share a transaction.
    ///
    /// - Parameter mayLinger: the lane may wait on its connection, because the next item is probably about to arrive.
    mutating func takeBatch(now: ContinuousClock.Instant, mayLinger: Bool) -> Turn {
        if let batch = next(now) { return .run(batch) }
        guard mayLinger else { return .end }
        lingering += 1
        return .linger
    }

    /// Dequeues items for a lane that has lingered.
    ///
    /// - Parameter wasCalled: true if the lane was signalled; false if its time has passed.
    mutating func takeAfterLingering(now: ContinuousClock.Instant, wasCalled: Bool) -> Turn {
        lingering -= 1
        if wasCalled, called > 0 { called -= 1 }
        called = min(called, lingering)
        return next(now).map { .run($0) } ?? .end
    }

    private mutating func next(_ now: ContinuousClock.Instant) -> [Item]? {
        var batch: [Item] = []
        var rows: Set<RowName> = []
        var rest: [Item] = []
        for (index, item) in queue.enumerated() {
            guard batch.count < bounds.batch, index < bounds.lookAhead else {
                rest.append(contentsOf: queue[index...])
                break
            }
            let fits =
                batch.first.map { item.goes(with: $0) } ?? true
                && rows.isDisjoint(with: item.rows) && busy.isDisjoint(with: item.rows)
            if fits {
                batch.append(item)
                rows.formUnion(item.rows)
            } else {
                rest.append(item)
            }
        }
        if batch.isEmpty { return nil }
        queue = rest
        busy.formUnion(rows)
        lastMove = now
        return batch
    }

    /// Releases the rows of a batch that has ended.
    mutating func finish(_ batch: [Item], now: ContinuousClock.Instant) {
        lastMove = now
        sizes.add(batch.count)
        for item in batch { busy.subtract(item.rows) }
    }

    /// The action after a check of the lanes.
    enum Look: Equatable {
        case openLane
        case lookAgain
        /// No item waits any more.
        case end
    }

    /// Checks if the waiting items need another lane.
    mutating func look(now: ContinuousClock.Instant) -> Look {
        guard !queue.isEmpty else {
            isWatched = false
            return .end
        }
        let isHeldUp = now - lastMove > bounds.stall
        // A lane may have closed between two batches while all items waited for its rows.
        guard lanes < (isHeldUp ? bounds.lanesHeldUp : bounds.lanes) else { return .lookAgain }
        lanes += 1
        return .openLane
    }
}

extension BatchItem {
    fileprivate func isOverdue(_ now: ContinuousClock.Instant) -> Bool { deadline <= now || isUnwanted }
}
