import MergeCore
import RecordStore
import Synchronization

/// Gathers pushes while others run, and has the next free place take many of them as one transaction.
///
/// A push that finds a free place runs at once, so alone it waits for nobody. The push that waited longest leads: its
/// task runs the transaction for all that go with it. Pushes that edit the same record never share a transaction, nor
/// run at once.
final class Coalescer: Sendable {
    private enum Turn: Sendable {
        case lead([Waiting])
        case done(Result<Verdict, StoreError>)
    }

    private struct Waiting: Sendable {
        let job: Job
        /// nil for the one that came with a free place.
        let continuation: CheckedContinuation<Turn, Never>?
    }

    private struct State {
        var queue: [Waiting] = []
        /// Records that are being edited in shared transactions.
        var busy: Set<Job.Place> = []
        var running = 0
        /// When the last transaction began or ended, which tells whether they are held up.
        var lastMove = ContinuousClock.now
        var isWatched = false
    }

    private let state = Mutex(State())
    private let limits: MergeLimits
    /// Pushes at the head of the queue that are looked at for one transaction.
    private static let lookAhead = 256
    /// A transaction that takes longer is held up by somebody else.
    private static let stall = Duration.milliseconds(20)

    init(_ limits: MergeLimits) {
        self.limits = limits
    }

    /// Runs a push, alone or with others.
    ///
    /// - Parameter run: runs one transaction, and tells for each push what became of it.
    /// - Throws: `StoreError` where the transaction has no known outcome or the database cannot be reached.
    func submit(
        _ job: Job, run: ([Job]) async throws(StoreError) -> [Verdict]
    ) async throws(StoreError) -> Verdict {
        let turn: Turn
        if let batch = startsAtOnce(job) {
            turn = .lead(batch)
        } else {
            turn = await withCheckedContinuation { enqueue(Waiting(job: job, continuation: $0)) }
        }
        switch turn {
        case .done(let result): return try result.get()
        case .lead(let batch):
            defer { leave(batch) }
            let results: [Result<Verdict, StoreError>]
            do throws(StoreError) {
                results = try await run(batch.map(\.job)).map { .success($0) }
            } catch {
                results = batch.map { _ in .failure(error) }
            }
            for (waiting, result) in zip(batch, results).dropFirst() {
                waiting.continuation?.resume(returning: .done(result))
            }
            return try results.first?.get() ?? .alone
        }
    }

    private func startsAtOnce(_ job: Job) -> [Waiting]? {
        state.withLock { state in
            guard state.queue.isEmpty, state.running < limits.lanes, state.busy.isDisjoint(with: job.records) else {
                return nil
            }
            return begin([Waiting(job: job, continuation: nil)], &state)
        }
    }

    private func begin(_ batch: [Waiting], _ state: inout State) -> [Waiting] {
        state.running += 1
        state.lastMove = .now
        for waiting in batch { state.busy.formUnion(waiting.job.records) }
        return batch
    }

    private func enqueue(_ waiting: Waiting) {
        let watches = state.withLock { state in
            state.queue.append(waiting)
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if watches { Task { await watch() } }
        startNext()
    }

    private func leave(_ batch: [Waiting]) {
        state.withLock { state in
            state.running -= 1
            state.lastMove = .now
            for waiting in batch { state.busy.subtract(waiting.job.records) }
        }
        startNext()
    }

    /// Lets those who wait longest take the free places.
    private func startNext() {
        while let batch = state.withLock({ next(&$0) }) {
            batch.first?.continuation?.resume(returning: .lead(batch))
        }
    }

    private func next(_ state: inout State) -> [Waiting]? {
        let isHeldUp = ContinuousClock.now - state.lastMove > Self.stall
        guard !state.queue.isEmpty, state.running < (isHeldUp ? limits.maximumLanes : limits.lanes) else { return nil }
        var batch: [Waiting] = []
        var records: Set<Job.Place> = []
        var rest: [Waiting] = []
        for (index, waiting) in state.queue.enumerated() {
            guard batch.count < limits.coalescedPushes, index < Self.lookAhead else {
                rest.append(contentsOf: state.queue[index...])
                break
            }
            let job = waiting.job
            let fits =
                batch.first.map { $0.job.served.catalog.version == job.served.catalog.version } ?? true
                && records.isDisjoint(with: job.records) && state.busy.isDisjoint(with: job.records)
            if fits {
                batch.append(waiting)
                records.formUnion(job.records)
            } else {
                rest.append(waiting)
            }
        }
        if batch.isEmpty { return nil }
        state.queue = rest
        return begin(batch, &state)
    }

    /// Looks after those who wait while every place is held up.
    private func watch() async {
        while true {
            try? await Task.sleep(for: Self.stall)
            startNext()
            let isOver = state.withLock { state in
                if state.queue.isEmpty { state.isWatched = false }
                return state.queue.isEmpty
            }
            if isOver { return }
        }
    }
}
