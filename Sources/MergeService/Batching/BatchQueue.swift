import Dispatch
import MergeCore
import RecordStore
import Synchronization

/// Gathers what waits while transactions run, pushes or reads, and has the next transaction take many of them: a thin
/// shell around `BatchQueueState`.
final class BatchQueue<Work: BatchWork>: Sendable {
    typealias Outcome = Result<Work.Answer, StoreError>

    /// An object, because it moves from the queue to a batch and is looked at on the way.
    private final class Waiting: BatchItem {
        let item: Work.Item
        private let continuation: CheckedContinuation<Outcome, Never>

        init(_ item: Work.Item, _ continuation: CheckedContinuation<Outcome, Never>) {
            self.item = item
            self.continuation = continuation
        }

        var deadline: ContinuousClock.Instant { item.deadline }
        var isUnwanted: Bool { item.isUnwanted }
        var rows: Set<RowReference> { item.rows }

        func goes(with first: Waiting) -> Bool { item.goes(with: first.item) }

        func resume(_ outcome: Outcome) { continuation.resume(returning: outcome) }
    }

    private let state: Mutex<BatchQueueState<Waiting>>
    private let work: Work
    /// Raised for a lane that lingers.
    private let arrival = DispatchSemaphore(value: 0)
    /// The time for which a lane that runs dry keeps its connection.
    private static var linger: DispatchTimeInterval { .milliseconds(2) }
    /// The time between two looks at lanes that may be held up.
    private static var pause: Duration { .milliseconds(20) }

    /// - Parameter lanesHeldUp: lanes that may run where others are held up.
    init(_ limits: MergeLimits, lanesHeldUp: Int, _ work: Work) {
        let bounds = BatchQueueState<Waiting>.Bounds(
            batch: limits.coalesced, lanes: limits.lanes, lanesHeldUp: lanesHeldUp, waiting: limits.waiting)
        state = Mutex(BatchQueueState(bounds, now: .now))
        self.work = work
    }

    /// Runs an item, alone or with others.
    ///
    /// - Throws: `StoreError` where the transaction has no known outcome; of the kind `overloaded` where too many wait,
    ///   `busy` where its time was over, or its caller gone, before it began.
    func submit(_ item: Work.Item) async throws(StoreError) -> Work.Answer {
        let outcome = await withCheckedContinuation { enter(Waiting(item, $0)) }
        return try outcome.get()
    }

    /// The number that wait for a transaction.
    var waiting: Int { state.withLock { $0.waiting } }

    /// The queue at this moment, under a name.
    func load(_ name: String) -> QueueLoad {
        state.withLock { QueueLoad(name: name, waiting: $0.waiting, sizes: $0.sizes) }
    }

    private static var full: StoreError { StoreError(.overloaded, "too many requests wait for a transaction") }
    private static var late: StoreError { StoreError(.busy, "its time was over before a transaction took it") }
    private static var unwanted: StoreError { StoreError(.busy, "nobody waits for it any more") }

    private func enter(_ waiting: Waiting) {
        let (entry, beginsWatch) = state.withLock { ($0.enqueue(waiting), $0.beginWatch()) }
        switch entry {
        case .refuse: waiting.resume(.failure(Self.full))
        case .openLane: openLane()
        case .callLane: arrival.signal()
        case .wait: break
        }
        if beginsWatch { Task { await watch() } }
    }

    // MARK: Lanes

    private func openLane() {
        Task {
            while let deadline = nextDeadline() {
                do throws(StoreError) {
                    try await work.engine.withConnection(for: work.purpose, deadline: deadline) { self.run(on: $0) }
                } catch {
                    // Nobody is left to wait for a connection that may not come.
                    while let batch = takeBatch(mayLinger: false) { end(batch, after: error) }
                }
                await work.laneHasClosed()
            }
        }
    }

    private func nextDeadline() -> ContinuousClock.Instant? {
        turnAwayOverdue()
        return state.withLock { $0.deadlineOfLane() }
    }

    /// Runs batches on a connection, on its thread, for as long as anything waits.
    private func run(on connection: any StoreConnection) {
        repeat {
            guard let batch = takeBatch(mayLinger: connection.isExclusive) else { return }
            do throws(StoreError) {
                end(batch, .success(try work.run(batch.map(\.item), on: connection)))
            } catch {
                end(batch, after: error)
            }
        } while connection.isExclusive && connection.isUsable
    }

    /// Takes those who wait longest; nil where the lane is to give its connection back.
    private func takeBatch(mayLinger: Bool) -> [Waiting]? {
        turnAwayOverdue()
        switch state.withLock({ $0.takeBatch(now: .now, mayLinger: mayLinger) }) {
        case .run(let batch): return batch
        case .end: return nil
        case .linger:
            let wasCalled = arrival.wait(timeout: .now() + Self.linger) == .success
            guard
                case .run(let batch) = state.withLock({ $0.takeAfterLingering(now: .now, wasCalled: wasCalled) })
            else { return nil }
            return batch
        }
    }

    private func turnAwayOverdue() {
        for waiting in state.withLock({ $0.dropOverdue(now: .now) }) {
            waiting.resume(.failure(waiting.isUnwanted ? Self.unwanted : Self.late))
        }
    }

    private func end(_ batch: [Waiting], after error: StoreError) {
        do throws(StoreError) {
            end(batch, .success(try work.answers(to: batch.map(\.item), after: error)))
        } catch {
            end(batch, .failure(error))
        }
    }

    private func end(_ batch: [Waiting], _ result: Result<[Work.Answer], StoreError>) {
        state.withLock { $0.finish(batch, now: .now) }
        // Those who waited are called from elsewhere, so that the lane can go on.
        if batch.count > 1 { Task { Self.tell(batch, result) } } else { Self.tell(batch, result) }
    }

    private static func tell(_ batch: [Waiting], _ result: Result<[Work.Answer], StoreError>) {
        switch result {
        case .success(let answers):
            for (waiting, answer) in zip(batch, answers) { waiting.resume(.success(answer)) }
        case .failure(let error):
            for waiting in batch { waiting.resume(.failure(error)) }
        }
    }

    /// Opens a lane more for those who wait while every other one is held up.
    private func watch() async {
        while true {
            try? await Task.sleep(for: Self.pause)
            // While all lanes are held up nobody else looks.
            turnAwayOverdue()
            switch state.withLock({ $0.look(now: .now) }) {
            case .openLane: openLane()
            case .lookAgain: break
            case .end: return
            }
        }
    }
}
