/// Items that wait for a transaction, and the lanes that run them.
///
/// A lane keeps its connection and runs one batch after the other for as long as anything waits, so that the database is
/// never left waiting for a task to be scheduled; the first item of all finds no lane and opens one at once, so alone it
/// waits for nobody. Items that name the same row never share a batch, nor run at once.
///
/// Pure: every function returns what is to be done, so that it is tested without time, threads or a database. (The idea
/// is that of the pool in postgres-nio, `PoolStateMachine`.)
struct BatchQueueState<Item: BatchItem> {
    /// Bounds on what waits and runs.
    struct Bounds {
        /// Items of one batch.
        var batch: Int
        /// Lanes that run as long as none is held up.
        var lanes: Int
        /// Lanes that run where others are held up by rows that somebody else holds.
        var lanesHeldUp: Int
        /// Items that wait.
        var waiting: Int
        /// Items at the head of the queue that are looked at for one batch.
        var lookAhead = 256
        /// A batch that takes longer is held up by somebody else.
        var stall = Duration.milliseconds(20)
    }

    private let bounds: Bounds
    private var queue: [Item] = []
    /// Rows of the batches that run.
    private var busy: Set<RowReference> = []
    private var lanes = 0
    /// Lanes that wait on their connections for the next item.
    private var lingering = 0
    /// The number of them that were called.
    private var called = 0
    /// The time at which a batch began or ended last, which tells whether the lanes are held up.
    private var lastMove: ContinuousClock.Instant
    private var isWatched = false
    /// The batches that have ended.
    private(set) var sizes = BatchSizes()

    init(_ bounds: Bounds, now: ContinuousClock.Instant) {
        self.bounds = bounds
        lastMove = now
    }

    /// The number of items that wait.
    var waiting: Int { queue.count }

    /// Something to be done about a new item.
    enum Entry: Equatable {
        /// Too many wait: the item is turned away.
        case refuse
        case openLane
        /// A lane that lingers is called.
        case callLane
        case wait
    }

    /// Takes an item into the queue.
    mutating func enqueue(_ item: Item) -> Entry {
        guard queue.count < bounds.waiting else { return .refuse }
        queue.append(item)
        if lingering > 0 {
            // A lane that is called takes all that wait by then.
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
    /// Any item may be left behind: its lane ends if its rows are busy, or takes other items. So the watch begins with the
    /// first item that waits.
    ///
    /// - Returns: false if the watch is running already, or no item waits.
    mutating func beginWatch() -> Bool {
        guard !isWatched, !queue.isEmpty else { return false }
        isWatched = true
        return true
    }

    /// Takes out of the queue those whose time is over or whom nobody waits for.
    mutating func dropOverdue(now: ContinuousClock.Instant) -> [Item] {
        guard queue.contains(where: { $0.isOverdue(now) }) else { return [] }
        let dropped = queue.filter { $0.isOverdue(now) }
        queue.removeAll { $0.isOverdue(now) }
        return dropped
    }

    /// Returns by when those who wait need a connection; nil where none of them could run, and then the lane is closed.
    mutating func deadlineOfLane() -> ContinuousClock.Instant? {
        // Those further behind are not looked at for a batch either.
        let earliest = queue.prefix(bounds.lookAhead).filter { busy.isDisjoint(with: $0.rows) }.map(\.deadline).min()
        if earliest == nil { lanes -= 1 }
        return earliest
    }

    /// Something that a lane does next.
    enum Turn {
        case run([Item])
        /// It waits on its connection until it is called or a short time is over.
        case linger
        /// It gives its connection back.
        case end
    }

    /// Dequeues the oldest items that can share a transaction.
    ///
    /// - Parameter mayLinger: the lane may wait on its connection: most likely the next item is being read already.
    mutating func takeBatch(now: ContinuousClock.Instant, mayLinger: Bool) -> Turn {
        if let batch = next(now) { return .run(batch) }
        guard mayLinger else { return .end }
        lingering += 1
        return .linger
    }

    /// Dequeues what a lane found that lingered.
    ///
    /// - Parameter wasCalled: an item came; else the time was over.
    mutating func takeAfterLingering(now: ContinuousClock.Instant, wasCalled: Bool) -> Turn {
        lingering -= 1
        if wasCalled, called > 0 { called -= 1 }
        called = min(called, lingering)
        return next(now).map { .run($0) } ?? .end
    }

    private mutating func next(_ now: ContinuousClock.Instant) -> [Item]? {
        var batch: [Item] = []
        var rows: Set<RowReference> = []
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

    /// Lets go of the rows of a batch that has ended.
    mutating func finish(_ batch: [Item], now: ContinuousClock.Instant) {
        lastMove = now
        sizes.add(batch.count)
        for item in batch { busy.subtract(item.rows) }
    }

    /// Something to be done after a look at the lanes.
    enum Look: Equatable {
        case openLane
        case lookAgain
        /// Nobody waits any more.
        case end
    }

    /// Looks whether those who wait need a lane more, because every other one is held up.
    mutating func look(now: ContinuousClock.Instant) -> Look {
        guard !queue.isEmpty else {
            isWatched = false
            return .end
        }
        let isHeldUp = now - lastMove > bounds.stall
        // Between two of its batches a lane may have closed while everyone waited for rows that it held.
        guard lanes < (isHeldUp ? bounds.lanesHeldUp : bounds.lanes) else { return .lookAgain }
        lanes += 1
        return .openLane
    }
}

extension BatchItem {
    fileprivate func isOverdue(_ now: ContinuousClock.Instant) -> Bool { deadline <= now || isUnwanted }
}
