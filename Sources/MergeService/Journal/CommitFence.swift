import Dispatch
import RecordStore
import Synchronization

/// Admits one transaction at a time between its write-ahead entry and its confirmed end.
///
/// A transaction locks its rows until it ends. So a later transaction on these rows reaches the fence only after the
/// earlier one has ended in the database. It then waits until this process has received that end. If the end stays
/// unknown, the fence closes, and later transactions roll back and run again after recovery. So recovery reads the rows
/// as the in-doubt transaction left them, unless another program has changed them.
///
/// The next write-ahead entry also records the previous commit, which saves a commit. So a crash leaves at most one
/// in-doubt transaction.
final class CommitFence: Sendable {
    /// A committed transaction that the journal does not yet record as committed.
    struct Commit: Sendable {
        let journal: WriteAheadJournal
        let token: String
    }

    private enum Gate {
        case open
        /// A transaction has passed and not ended.
        case taken
        case closed(InDoubt)
    }

    /// A transaction whose outcome is unknown, in the database or in the journal.
    struct InDoubt: Sendable {
        /// nil for a transaction of another process.
        let token: String?
        /// True if it was rolled back and its entries are still in the journal.
        let isRolledBack: Bool
        let since = ContinuousClock.now
    }

    private struct State {
        var gate = Gate.open
        /// Waiting transactions; each is woken when it is admitted or the fence closes.
        var waiters: [(number: Int, alarm: DispatchSemaphore)] = []
        /// Admitted transactions that have not woken up yet.
        var admitted: Set<Int> = []
        var next = 0
        var commits: [Commit] = []
    }

    private let state = Mutex(State())
    private let recoveries = Permits(limit: 1)
    /// The longest wait for a busy journal; then the next transaction records the commits.
    private static let patience = Duration.seconds(5)

    // MARK: Passing

    /// Waits until no other transaction is between its write-ahead entry and its end, on a thread that may block.
    ///
    /// - Throws: `StoreError` of the kind `serialization` if a transaction is in doubt, `busy` at the deadline.
    func enter(until deadline: ContinuousClock.Instant) throws(StoreError) {
        let alarm = DispatchSemaphore(value: 0)
        let number = try state.withLock { state throws(StoreError) -> Int? in
            switch state.gate {
            case .open:
                state.gate = .taken
                return nil
            case .taken:
                state.next += 1
                state.waiters.append((state.next, alarm))
                return state.next
            case .closed: throw WriteAheadJournal.inDoubt
            }
        }
        guard let number else { return }
        let seconds = max(0, (deadline - .now) / .seconds(1))
        _ = alarm.wait(timeout: .now() + min(seconds, 3_600))
        try state.withLock { state throws(StoreError) in
            if state.admitted.remove(number) != nil { return }
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                throw WriteAheadJournal.inDoubt
            }
            state.waiters.remove(at: index)
            throw StoreError(.busy, "another transaction did not commit in time")
        }
    }

    /// Ends the admitted transaction; a commit is recorded later.
    func leave(_ commit: Commit? = nil) {
        state.withLock { state in
            if let commit { state.commits.append(commit) }
            guard !state.waiters.isEmpty else {
                state.gate = .open
                return
            }
            let next = state.waiters.removeFirst()
            state.admitted.insert(next.number)
            next.alarm.signal()
        }
    }

    /// Closes the fence until recovery has decided about a transaction.
    func close(_ inDoubt: InDoubt) {
        state.withLock { state in
            state.gate = .closed(inDoubt)
            for waiter in state.waiters { waiter.alarm.signal() }
            state.waiters = []
        }
    }

    // MARK: Recovery

    /// The transaction in doubt; nil if there is none.
    var doubt: InDoubt? {
        state.withLock { state in
            guard case .closed(let doubt) = state.gate else { return nil }
            return doubt
        }
    }

    /// Runs recovery and opens the fence, if it is closed.
    ///
    /// - Throws: `StoreError` if recovery has not decided in time; the fence stays closed.
    func open(
        until deadline: ContinuousClock.Instant, _ recover: (InDoubt) async throws(StoreError) -> Void
    ) async throws(StoreError) {
        if doubt == nil { return }
        guard await recoveries.acquire(until: deadline) else {
            throw StoreError(.busy, "recovery has not decided in time about a COMMIT in doubt")
        }
        defer { recoveries.release() }
        // Another request may have run recovery.
        guard let doubt else { return }
        await tell(until: deadline)
        try await recover(doubt)
        state.withLock { $0.gate = .open }
    }

    // MARK: Records of commits

    /// Writes the entries and effects of a transaction, and records earlier commits in the same journal.
    func write(
        _ drafts: [JournalDraft], taking effects: [SingleEffect], ahead token: String, in journal: WriteAheadJournal
    ) throws(StoreError) {
        let told = commits.filter { $0.journal.store === journal.store }
        try journal.write(drafts, taking: effects, token: token, after: told)
        forget(told)
    }

    private var commits: [Commit] { state.withLock { $0.commits } }

    private func forget(_ told: [Commit]) {
        let gone = Set(told.map(\.token))
        state.withLock { state in state.commits.removeAll { gone.contains($0.token) } }
    }

    /// Records commits in their journals; if a journal is busy, the next transaction does it.
    ///
    /// - Parameter deadline: the deadline of the request that waits for this; nil if none does.
    func tell(until deadline: ContinuousClock.Instant? = nil) async {
        for commit in commits {
            let latest = ContinuousClock.now.advanced(by: Self.patience)
            do {
                try await commit.journal.write([commit], until: deadline.map { min($0, latest) } ?? latest)
            } catch {
                return
            }
            forget([commit])
        }
    }
}
