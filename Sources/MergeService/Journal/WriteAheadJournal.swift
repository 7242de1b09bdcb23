import MergeCore
import RecordStore

/// A journal that cannot take part in the merge's transaction: SQLite commits two files one after the other where one
/// is in WAL mode, and two servers know nothing of each other.
///
/// So the drafts are written first, as those of an in-doubt transaction; then the merge is committed; then the journal is
/// told. `CommitFence` keeps further transactions from the rows until the end is known, and recovery decides from the
/// rows: do they contain what the entry wrote, or what was there before?
struct WriteAheadJournal {
    let journal: Journal
    let store: any WaitingStore

    init?(_ journal: Journal) {
        guard let store = journal.ahead else { return nil }
        self.journal = journal
        self.store = store
    }

    /// Returns a name for one transaction's drafts.
    static func newToken() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Writes the drafts of one transaction before it is committed; those of an earlier run of it are taken back.
    ///
    /// - Parameter commits: transactions that were committed; the journal is told in the same commit.
    /// - Throws: `StoreError`; of the kind `serialization` if the journal contains another in-doubt transaction, which a
    ///   process has left that was killed, or which another one is just about to commit.
    func write(
        _ drafts: [JournalDraft], token: String, after commits: [CommitFence.Commit]
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
            if let numbers { _ = try session.execute(tables.setPending(token, numbers)) }
        }
    }

    /// Waits until the gateway that the journal belongs to has decided about every in-doubt transaction.
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

    /// Tells the journal of a committed transaction, on a thread that may block.
    func writeNow(_ commit: CommitFence.Commit) throws(StoreError) {
        let tables = journal.tables
        try store.writeNow { session throws(StoreError) in try Self.tell([commit], to: tables, in: session) }
    }

    /// Deletes the drafts of a transaction that was rolled back, on a thread that may block.
    func withdrawNow(_ token: String) throws(StoreError) {
        let tables = journal.tables
        try store.writeNow { session throws(StoreError) in try Self.withdraw(token, from: tables, in: session) }
    }

    /// Tells the journal of committed transactions.
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
            if !commit.effects.isEmpty { try note(commit.effects, to: tables, in: session) }
        }
    }

    /// Gives the changes of a transaction that is known to be committed their revisions.
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
            _ = try session.execute(tables.settled(token))
        }
    }

    /// Notes how transactions ended; done twice at once, or told a second time, it is noted already.
    private static func note(
        _ effects: [SingleEffect], to tables: JournalTables, in session: any StoreSession
    ) throws(StoreError) {
        do {
            for statement in tables.mark(effects) { _ = try session.execute(statement) }
        } catch {
            guard error.isCollision else { throw error }
        }
    }
}
