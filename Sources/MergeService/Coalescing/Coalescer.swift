import Dispatch
import MergeCore
import RecordStore
import Synchronization

/// Gathers what waits while transactions run, pushes or reads, and has the next transaction take many of them.
///
/// Transactions run in lanes. A lane keeps its connection and runs one transaction after the other for as long as
/// anything waits, so that the database is never left waiting for a task to be scheduled; the first of all finds no
/// lane and starts one at once, so alone it waits for nobody. Pushes that edit the same row never share a
/// transaction, nor run at once.
final class Coalescer<Work: SharedWork>: Sendable {
    /// An object, because it moves from the queue to a batch and is looked at on the way.
    private final class Waiting: Sendable {
        let item: Work.Item
        private let continuation: CheckedContinuation<Result<Verdict<Work.Item.Answer>, StoreError>, Never>

        init(
            _ item: Work.Item,
            _ continuation: CheckedContinuation<Result<Verdict<Work.Item.Answer>, StoreError>, Never>
        ) {
            self.item = item
            self.continuation = continuation
        }

        func resume(_ result: Result<Verdict<Work.Item.Answer>, StoreError>) { continuation.resume(returning: result) }
    }

    private struct State {
        var queue: [Waiting] = []
        /// Rows that are being edited in shared transactions.
        var busy: Set<RowReference> = []
        var lanes = 0
        /// Lanes that wait for the next item on a thread of their own.
        var lingering = 0
        /// The number of them that were called.
        var called = 0
        /// When a transaction began or ended last, which tells whether they are held up.
        var lastMove = ContinuousClock.now
        var isWatched = false
    }

    private let state = Mutex(State())
    private let limits: MergeLimits
    private let work: Work
    /// Raised for a lane that lingers.
    private let arrival = DispatchSemaphore(value: 0)
    /// The number at the head of the queue that are looked at for one transaction.
    private static var lookAhead: Int { 256 }
    /// The time for which a lane that runs dry keeps its connection.
    private static var linger: DispatchTimeInterval { .milliseconds(2) }
    /// A transaction that takes longer is held up by somebody else.
    private static var stall: Duration { .milliseconds(20) }

    init(_ limits: MergeLimits, _ work: Work) {
        self.limits = limits
        self.work = work
    }

    /// Runs an item, alone or with others.
    ///
    /// - Throws: `StoreError` where the transaction has no known outcome; of the kind `overloaded` where too many wait,
    ///   `busy` where its time was over, or its caller gone, before it began.
    func submit(_ item: Work.Item) async throws(StoreError) -> Verdict<Work.Item.Answer> {
        let result = await withCheckedContinuation { enter(Waiting(item, $0)) }
        return try result.get()
    }

    /// The number that wait for a transaction.
    var waiting: Int { state.withLock { $0.queue.count } }

    private static var full: StoreError { StoreError(.overloaded, "too many requests wait for a transaction") }
    private static var late: StoreError { StoreError(.busy, "its time was over before a transaction took it") }
    private static var unwanted: StoreError { StoreError(.busy, "nobody waits for it any more") }

    private func enter(_ waiting: Waiting) {
        guard state.withLock({ $0.queue.count < limits.waiting }) else { return waiting.resume(.failure(Self.full)) }
        let (opensLane, wakesLane, watches) = state.withLock { state in
            state.queue.append(waiting)
            if state.lingering > 0 {
                // A lane that is called takes all that wait by then.
                let wakes = state.called < state.lingering
                if wakes { state.called += 1 }
                return (false, wakes, false)
            }
            if state.lanes < limits.lanes {
                state.lanes += 1
                return (true, false, false)
            }
            defer { state.isWatched = true }
            return (false, false, !state.isWatched)
        }
        if opensLane { openLane() }
        if wakesLane { arrival.signal() }
        if watches { Task { await watch() } }
    }

    // MARK: Lanes

    private func openLane() {
        Task {
            while let deadline = nextDeadline() {
                do throws(StoreError) {
                    try await work.run(
                        deadline: deadline, next: { self.begin(mayWait: $0) }, items: { $0.map(\.item) },
                        done: { batch, result in self.end(batch, result) })
                } catch {
                    // Nobody is left to wait for a connection that may not come.
                    while let batch = begin(mayWait: false) {
                        end(batch, Work.verdict(error, batch.map(\.item)))
                    }
                }
            }
        }
    }

    /// By when those who wait need a connection; nil where nobody waits who could run, and then the lane is closed.
    private func nextDeadline() -> ContinuousClock.Instant? {
        let (deadline, dropped) = state.withLock { state in
            let dropped = dropOverdue(&state)
            var earliest: ContinuousClock.Instant?
            // Those further behind are not looked at for a transaction either.
            for waiting in state.queue.prefix(Self.lookAhead) where state.busy.isDisjoint(with: waiting.item.rows) {
                earliest = min(earliest ?? waiting.item.deadline, waiting.item.deadline)
            }
            if earliest == nil { state.lanes -= 1 }
            return (earliest, dropped)
        }
        Self.turnAway(dropped)
        return deadline
    }

    /// Takes those who wait longest; nil where nobody can run.
    ///
    /// A lane that runs dry lingers: most likely the next item is being read already, and then it finds a connection
    /// and a thread that are ready.
    private func begin(mayWait: Bool) -> [Waiting]? {
        let (batch, dropped) = state.withLock { state in
            let dropped = dropOverdue(&state)
            let batch = next(&state)
            if batch == nil, mayWait { state.lingering += 1 }
            return (batch, dropped)
        }
        Self.turnAway(dropped)
        guard batch == nil, mayWait else { return batch }
        let wasCalled = arrival.wait(timeout: .now() + Self.linger) == .success
        return state.withLock { state in
            state.lingering -= 1
            if wasCalled, state.called > 0 { state.called -= 1 }
            state.called = min(state.called, state.lingering)
            return next(&state)
        }
    }

    /// Takes out of the queue whose time is over or whose caller has gone.
    private func dropOverdue(_ state: inout State) -> [Waiting] {
        let now = ContinuousClock.now
        guard state.queue.contains(where: { Self.isOverdue($0, now) }) else { return [] }
        let dropped = state.queue.filter { Self.isOverdue($0, now) }
        state.queue.removeAll { Self.isOverdue($0, now) }
        return dropped
    }

    private static func isOverdue(_ waiting: Waiting, _ now: ContinuousClock.Instant) -> Bool {
        waiting.item.deadline <= now || waiting.item.caller.hasLeft
    }

    private static func turnAway(_ dropped: [Waiting]) {
        for waiting in dropped { waiting.resume(.failure(waiting.item.caller.hasLeft ? unwanted : late)) }
    }

    private func end(_ batch: [Waiting], _ result: Result<[Verdict<Work.Item.Answer>], StoreError>) {
        state.withLock { state in
            state.lastMove = .now
            for waiting in batch { state.busy.subtract(waiting.item.rows) }
        }
        // Those who waited are called from elsewhere, so that the lane can go on.
        if batch.count > 1 { Task { Self.tell(batch, result) } } else { Self.tell(batch, result) }
    }

    private static func tell(_ batch: [Waiting], _ result: Result<[Verdict<Work.Item.Answer>], StoreError>) {
        switch result {
        case .success(let verdicts):
            for (waiting, verdict) in zip(batch, verdicts) { waiting.resume(.success(verdict)) }
        case .failure(let error):
            for waiting in batch { waiting.resume(.failure(error)) }
        }
    }

    private func next(_ state: inout State) -> [Waiting]? {
        var batch: [Waiting] = []
        var rows: Set<RowReference> = []
        var rest: [Waiting] = []
        for (index, waiting) in state.queue.enumerated() {
            guard batch.count < limits.coalesced, index < Self.lookAhead else {
                rest.append(contentsOf: state.queue[index...])
                break
            }
            let item = waiting.item
            let fits =
                batch.first.map { item.goes(with: $0.item) } ?? true
                && rows.isDisjoint(with: item.rows) && state.busy.isDisjoint(with: item.rows)
            if fits {
                batch.append(waiting)
                rows.formUnion(item.rows)
            } else {
                rest.append(waiting)
            }
        }
        if batch.isEmpty { return nil }
        state.queue = rest
        state.busy.formUnion(rows)
        state.lastMove = .now
        return batch
    }

    // MARK: Lanes that are held up

    /// Opens a lane more for those who wait while every other one is held up.
    private func watch() async {
        while true {
            try? await Task.sleep(for: Self.stall)
            let (opensLane, isOver, dropped) = state.withLock { state in
                // While all lanes are held up nobody else looks.
                let dropped = dropOverdue(&state)
                guard !state.queue.isEmpty else {
                    state.isWatched = false
                    return (false, true, dropped)
                }
                let isHeldUp = ContinuousClock.now - state.lastMove > Self.stall
                // Between two of its transactions a lane may have closed while everyone waited for records it held.
                let bound = isHeldUp ? limits.maximumLanes : limits.lanes
                guard state.lanes < bound else { return (false, false, dropped) }
                state.lanes += 1
                return (true, false, dropped)
            }
            Self.turnAway(dropped)
            if opensLane { openLane() }
            if isOver { return }
        }
    }
}
