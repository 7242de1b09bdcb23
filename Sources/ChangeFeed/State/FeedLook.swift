import MergeCore
import MergeService
import RecordStore

/// One check of the feed.
struct FeedLook: Sendable {
    let journal: Journal
    let gateway: String
    /// The maximum rows of `pending` in one transaction.
    static let batch = 200
    /// The number of changes after which a transaction takes no further row.
    static let mostChanges = 2_000

    private var feed: FeedTables { journal.tables.feed }

    struct Found: Sendable {
        let state: FeedState
        /// True if no other gateway is sequencing.
        let isFree: Bool
        let firstPending: Int?
        /// The time since which the journal has all keys, in microseconds since 1970.
        let keysSince: Int
    }

    /// Reads the state of the feed.
    ///
    /// - Throws: `StoreError`, of the kind `schemaChanged` without a feed.
    func find(
        pendingAfter number: Int, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Found {
        let rows = try await journal.engine.read(deadline: deadline) { [feed, gateway] session throws(StoreError) in
            try session.query(feed.state(for: gateway, pendingAfter: number))
        }
        let state = try feed.state(rows.first)
        let row = rows[0]
        var pending: Int?
        if case .integer(let number) = row[4] { pending = Int(clamping: number) }
        var keysSince: Int?
        if case .text(let text) = row[5] { keysSince = Int(text.string) }
        return Found(
            state: state, isFree: row[3] == .integer(1), firstPending: pending, keysSince: keysSince ?? 0)
    }

    /// Assigns revisions to all committed changes.
    ///
    /// - Returns: the highest number of a sequenced row, or nil.
    func sequence(
        after number: Int, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Int? {
        var highest: Int?
        while true {
            let step = try await step(after: number, until: deadline)
            highest = step.last.map { max($0, highest ?? 0) } ?? highest
            if !step.hasMore { return highest }
        }
    }

    private struct Step: Sendable {
        let last: Int?
        let hasMore: Bool
    }

    private func step(
        after number: Int, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Step {
        try await journal.engine.write(deadline: deadline) { [feed, gateway] session throws(StoreError) in
            // The lock comes first, so that no other gateway sequences the same rows.
            _ = try session.query(feed.lock)
            let rows = try session.query(feed.pending(after: number, limit: Self.batch))
            var numbers: [Int] = []
            var changes: [CommittedChange] = []
            for row in rows where changes.count < Self.mostChanges {
                let run = try feed.pendingRun(row)
                numbers.append(run.number)
                changes += run.changes
            }
            guard !numbers.isEmpty else { return .rollback(Step(last: nil, hasMore: false)) }
            try Sequencing.give(changes, in: feed, holder: gateway, session)
            var deletions = feed.deletePending(numbers)[...]
            try session.run({ deletions.popFirst() }) { _ in }
            return .commit(
                Step(last: numbers.last, hasMore: rows.count == Self.batch || numbers.count < rows.count))
        }
    }

    /// Ensures that a revision of another gateway is durable, by a later commit.
    func confirm(_ revision: Int, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await journal.engine.write(deadline: deadline) { [feed, gateway] session throws(StoreError) in
            for statement in feed.confirm(revision, by: gateway) { _ = try session.execute(statement) }
            return .commit(())
        }
    }

    /// Extends an empty feed back to the time before the first record.
    func reachBack(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await journal.engine.write(deadline: deadline) { [feed] session throws(StoreError) in
            _ = try session.query(feed.lock)
            _ = try session.execute(feed.reachBack)
            return .commit(())
        }
    }

    /// Releases sequencing to other gateways.
    func leave(until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await journal.engine.write(deadline: deadline) { [feed, gateway] session throws(StoreError) in
            _ = try session.execute(feed.release(gateway))
            _ = try session.execute(feed.forget(gateway))
            return .commit(())
        }
    }
}

extension FeedTables {
    /// Reads the feed's name, latest revision and earliest revision.
    ///
    /// - Throws: `StoreError` of the kind `schemaChanged` without a feed.
    func state(_ row: [Value]?) throws(StoreError) -> FeedState {
        guard let row, row.count >= 3, case .text(let id) = row[0], case .integer(let last) = row[1],
            case .integer(let oldest) = row[2]
        else {
            throw StoreError(
                .schemaChanged,
                "the journal “\(schema)” has lost its feed; begin another with “fieldmerge journal new-feed”")
        }
        return FeedState(feed: id.string, revision: Int(clamping: last), earliest: Int(clamping: oldest))
    }
}
