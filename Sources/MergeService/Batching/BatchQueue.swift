import Dispatch
import MergeCore
import RecordStore
import Synchronization

/// Collects pushes or reads while transactions run, so that the next transaction runs many of them.
///
/// It performs the actions that `BatchQueueState` returns.
final class BatchQueue<Work: BatchWork>: Sendable {
    typealias Outcome = Result<Work.Answer, StoreError>

    /// An object, because the queue and a batch share it.
    private final class Waiting: BatchItem {
        let item: Work.Item
        private let continuation: CheckedContinuation<Outcome, Never>

        init(_ item: Work.Item, _ continuation: CheckedContinuation<Outcome, Never>) {
            self.item = item
            self.continuation = continuation
        }

        var deadline: ContinuousClock.Instant { item.deadline }
        var isUnwanted: Bool { item.isUnwanted }
        var rows: Set<RowName> { item.rows }

        func goes(with first: Waiting) -> Bool { item.goes(with: first.item) }

        func resume(_ outcome: Outcome) { continuation.resume(returning: outcome) }
    }

    private let state: Mutex<BatchQueueState<Waiting>>
    private let work: Work
    /// Signals a lingering lane.
    private let arrival = DispatchSemaphore(value: 0)
    /// The time for which an idle lane keeps its connection.
    private static var linger: DispatchTimeInterval { .milliseconds(2) }
    /// The time between two checks for stalled lanes.
    private static var pause: Duration { .milliseconds(20) }

    /// Creates a queue.
    ///
    /// - Parameter lanesHeldUp: the most lanes if some are stalled.
    init(_ limits: MergeLimits, lanesHeldUp: Int, _ work: Work) {
        let bounds = BatchQueueState<Waiting>.Bounds(
            batch: limits.coalesced, lanes: limits.lanes, lanesHeldUp: lanesHeldUp, waiting: limits.waiting)
        state = Mutex(BatchQueueState(bounds, now: .now))
        self.work = work
    }

    /// Runs an item, alone or in a batch.
    ///
    /// - Throws: `StoreError` if the transaction failed; of the kind `overloaded` if too many items wait, `busy` if the
    ///   deadline passed or the caller disconnected before the start.
    func submit(_ item: Work.Item) async throws(StoreError) -> Work.Answer {
        let outcome = await withCheckedContinuation { enter(Waiting(item, $0)) }
        return try outcome.get()
    }

    var waiting: Int { state.withLock { $0.waiting } }

    func load(_ name: String) -> QueueLoad {
        state.withLock { QueueLoad(name: name, waiting: $0.waiting, sizes: $0.sizes) }
    }

    private static var full: StoreError { StoreError(.overloaded, "too many requests wait for a transaction") }
    private static var late: StoreError { StoreError(.busy, "its time was over before a transaction took it") }
    private static var unwanted: StoreError { StoreError(.busy, "the caller has disconnected") }

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
                    // Without a connection, all waiting items fail now.
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

    /// Runs batches on a connection, on its thread, as long as items wait.
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

    /// Returns the oldest items; nil if the lane must release its connection.
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
        // Another task resumes the callers, so that the lane can continue.
        if batch.count > 1 { Task { Self.tell(batch, result: result) } } else { Self.tell(batch, result: result) }
    }

    private static func tell(_ batch: [Waiting], result: Result<[Work.Answer], StoreError>) {
        switch result {
        case .success(let answers):
            for (waiting, answer) in zip(batch, answers) { waiting.resume(.success(answer)) }
        case .failure(let error):
            for waiting in batch { waiting.resume(.failure(error)) }
        }
    }

    /// Opens further lanes for waiting items while all lanes are stalled.
    private func watch() async {
        while true {
            try? await Task.sleep(for: Self.pause)
            // While all lanes are stalled, only the watch checks deadlines.
            turnAwayOverdue()
            switch state.withLock({ $0.look(now: .now) }) {
            case .openLane: openLane()
            case .lookAgain: break
            case .end: return
            }
        }
    }
}
