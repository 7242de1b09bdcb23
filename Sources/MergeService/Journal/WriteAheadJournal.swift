import MergeCore
import RecordStore

/// A journal that cannot be written in the transaction of the merge.
///
/// Two servers share no transaction, and SQLite commits two files one after the other if one is in WAL mode. So the
/// entries are written first, as those of an in-doubt transaction, and record the commit after the merge. `CommitFence`
/// keeps further transactions from the rows until then. After a crash, recovery compares the rows with the entries.
struct WriteAheadJournal {
    let journal: Journal
    let store: any WaitingStore

    init?(_ journal: Journal) {
        guard let store = journal.ahead else { return nil }
        self.journal = journal
        self.store = store
    }

    static func newToken() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Writes the drafts and effects of one transaction before its commit; replaces those of an earlier run.
    ///
    /// - Parameter commits: committed transactions, which the same transaction of the journal records.
    /// - Throws: `StoreError`; of the kind `takenEffect` if an effect has happened before, `serialization` if the
    ///   journal contains another in-doubt transaction. A killed process may have left it, or another process is about
    ///   to commit it.
    func write(
        _ drafts: [JournalDraft], taking effects: [SingleEffect], token: String, after commits: [CommitFence.Commit]
    ) throws(StoreError) {
        let tables = journal.tables
        try store.writeNow { session throws(StoreError) in
            try Self.tell(commits, to: tables, in: session)
            try Self.withdraw(token, from: tables, in: session)
            guard try session.query(tables.allPending).isEmpty else { throw Self.inDoubt }
            var numbers: ClosedRange<Int>?
            for insert in tables.insert(drafts) {
                let last = Int(clamping: try session.execute(insert.statement).generatedKey)
                numbers = (numbers?.lowerBound ?? last - insert.rows + 1)...last
                if let changes = insert.changes {
                    _ = try session.execute(
                        tables.feed.insert(changes, token: token, first: last - insert.rows + 1))
                }
            }
            guard let numbers else { return }
            _ = try session.execute(tables.setPending(token, numbers))
            try JournalWriter.note(effects, of: token, in: tables, session)
        }
    }

    /// Waits until the gateway that owns the journal has decided about every in-doubt transaction.
    ///
    /// - Throws: `StoreError` of the kind `busy` at the deadline.
    func waitForOwner(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        while true {
            let isClean = try await store.read(deadline: deadline) {
                [tables = journal.tables] session throws(StoreError) in
                try session.query(tables.allPending).isEmpty
            }
            if isClean { return }
            do {
                try await Task.sleep(for: .milliseconds(2))
            } catch {
                throw StoreError(.busy, "the request was cancelled")
            }
            if ContinuousClock.now >= deadline {
                throw StoreError(.busy, "the gateway has not decided in time about a COMMIT in doubt")
            }
        }
    }

    static let inDoubt = StoreError(.serialization, "the COMMIT of another transaction is in doubt")

    /// Records a committed transaction, on a thread that may block.
    func writeNow(_ commit: CommitFence.Commit) throws(StoreError) {
        let tables = journal.tables
        try store.writeNow { session throws(StoreError) in try Self.tell([commit], to: tables, in: session) }
    }

    /// Deletes the drafts of a transaction that was rolled back, on a thread that may block.
    func withdrawNow(_ token: String) throws(StoreError) {
        let tables = journal.tables
        try store.writeNow { session throws(StoreError) in try Self.withdraw(token, from: tables, in: session) }
    }

    func write(_ commits: [CommitFence.Commit], until deadline: ContinuousClock.Instant) async throws(StoreError) {
        let tables = journal.tables
        try await store.write(deadline: deadline) { session throws(StoreError) in
            try Self.tell(commits, to: tables, in: session)
            return .commit(())
        }
    }

    private static func tell(
        _ commits: [CommitFence.Commit], to tables: JournalTables, in session: any StoreSession
    ) throws(StoreError) {
        for commit in commits {
            _ = try session.execute(tables.settled(commit.token))
            try sequence(commit.token, in: tables.feed, session)
        }
    }

    /// Assigns revisions to the changes of a committed transaction.
    private static func sequence(
        _ token: String, in feed: FeedTables, _ session: any StoreSession
    ) throws(StoreError) {
        var changes: [CommittedChange] = []
        for row in try session.query(feed.pending(of: token)) { changes += try feed.pendingRun(row).changes }
        if changes.isEmpty { return }
        try Sequencing.give(changes, in: feed, session)
        _ = try session.execute(feed.deletePending(of: token))
    }

    private static func withdraw(
        _ token: String, from tables: JournalTables, in session: any StoreSession
    ) throws(StoreError) {
        _ = try session.execute(tables.feed.deletePending(of: token))
        for row in try session.query(tables.allPending) {
            guard let pending = tables.pending(row), pending.token == token else { continue }
            _ = try session.execute(tables.delete(pending.numbers))
            _ = try session.execute(tables.withdrawEffects(of: token))
            _ = try session.execute(tables.settled(token))
        }
    }
}
