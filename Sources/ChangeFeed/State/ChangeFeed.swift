package import MergeService
package import RecordStore
import Synchronization

/// The change feed of one gateway: sequences changes while it has the lease, and wakes waiting requests.
package final class ChangeFeed: Sendable {
    private typealias Looking = Task<Result<FeedState?, StoreError>, Never>

    private struct Known {
        let state: FeedState
        let keysSince: Int
        let at: ContinuousClock.Instant
        let journal: String
    }

    private struct State {
        var running: Looking?
        var next: Looking?
        /// A client of this gateway waits for its own change.
        var isUrgent = false
        var known: Known?
        var watch = PendingWatch()
        var numbers = SequencedNumbers()
        /// The gateway has checked whether the feed is older than the first record.
        var knowsBeginning = false
        var trouble: (error: StoreError, since: ContinuousClock.Instant)?
    }

    private let state = Mutex(State())
    private let waiters = FeedWaiters()
    private let journal: @Sendable () -> Journal?
    private let tell: @Sendable () async -> Void
    private let isEmpty: @Sendable () async -> Bool
    private let isPaused: @Sendable () -> Bool
    private let gateway = String(UInt64.random(in: .min ... .max), radix: 16)

    private let interval: Duration
    /// The maximum age of a state that is reported without a new check.
    private static let freshness = Duration.milliseconds(500)
    private static let patience = Duration.seconds(10)

    /// - Parameters:
    ///   - interval: the time between two checks.
    ///   - journal: returns the open journal, or nil.
    ///   - tell: reports ended transactions to the write-ahead journal.
    ///   - isEmpty: returns true if no resource has a record, so that a new feed covers all of them.
    ///   - isPaused: true while no revisions may be assigned.
    package init(
        interval: Duration = .milliseconds(100), journal: @escaping @Sendable () -> Journal?,
        tell: @escaping @Sendable () async -> Void = {}, isEmpty: @escaping @Sendable () async -> Bool = { false },
        isPaused: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isPaused = isPaused
        self.isEmpty = isEmpty
        self.interval = interval
        self.journal = journal
        self.tell = tell
    }

    /// Checks the feed until the task is cancelled, then wakes all waiting requests.
    package func run() async {
        while !Task.isCancelled {
            let hasFeed = (try? await look()) ?? nil
            try? await Task.sleep(for: hasFeed == nil ? max(interval, .milliseconds(500)) : interval)
        }
        close()
        guard let journal = journal() else { return }
        let look = FeedLook(journal: journal, gateway: gateway)
        // A cancelled task cannot wait for a connection.
        await withoutCancellation { try? await look.leave(until: .now.advanced(by: .seconds(2))) }
    }

    /// Wakes all waiting requests, because the gateway stops.
    package func close() { waiters.close() }

    /// True when the gateway stops.
    package var isClosed: Bool { waiters.isClosed }

    /// The number of waiting requests.
    package var waiting: Int { waiters.count }

    /// The current error of checks with its start, or nil.
    package var trouble: (error: StoreError, since: ContinuousClock.Instant)? { state.withLock { $0.trouble } }

    /// A row number of `pending` up to which almost all rows got revisions at least a minute ago.
    package var sequencedLongAgo: Int { state.withLock { $0.numbers.floor } }

    // MARK: State

    /// Returns a recent state; nil if the journal is off.
    package func current() async throws(StoreError) -> FeedState? {
        guard journal() != nil else { return nil }
        if let fresh { return fresh }
        return try await look()
    }

    /// The state of the last check, or nil if it is too old.
    package var fresh: FeedState? {
        guard let open = journal(), let known = state.withLock({ $0.known }), known.journal == open.tables.schema,
            ContinuousClock.now - known.at < Self.freshness
        else { return nil }
        return known.state
    }

    /// The state of the last check at any age, or nil.
    package var known: FeedState? { state.withLock { $0.known?.state } }

    /// Returns the state with everything committed before the call.
    package func catchUp() async throws(StoreError) -> FeedState? {
        await tell()
        state.withLock { $0.isUrgent = true }
        return try await look()
    }

    /// Ensures that a crash of the server cannot lose a revision that a page has read.
    ///
    /// A commit can be visible before it is durable. It is durable when a later commit of this gateway is. On SQLite a
    /// visible commit is durable.
    ///
    /// - Returns: false if a new feed has begun.
    /// - Throws: `StoreError` if the revision is already lost or the database is unusable.
    func confirm(_ page: FeedState, in journal: Journal) async throws(StoreError) -> Bool {
        if journal.tables.dialect.sequencesWithMerge || isConfirmed(page, in: journal) { return true }
        guard let now = try await look() else { return false }
        if now.feed != page.feed { return false }
        guard now.revision >= page.revision else {
            throw StoreError(.disconnected, "the database was restarted and has lost a change that was read from it")
        }
        return true
    }

    private func isConfirmed(_ page: FeedState, in journal: Journal) -> Bool {
        guard let known = state.withLock({ $0.known }), known.journal == journal.tables.schema else { return false }
        return known.state.feed == page.feed && known.state.revision >= page.revision
    }

    /// Waits until the feed is beyond a revision or the deadline has passed.
    package func wait(beyond revision: Int, of feed: String, until deadline: ContinuousClock.Instant) async {
        await waiters.wait(beyond: revision, of: feed, until: deadline) {
            let known = self.state.withLock { $0.known?.state }
            return known.map { $0.revision > revision || $0.feed != feed } ?? false
        }
    }

    /// Returns the current history for the check of pushes; nil if the journal is off.
    ///
    /// - Parameter feed: the feed that a client names. If it differs, the feed is read again, because another gateway
    ///   may have begun a new feed.
    package func history(named feed: String?) async throws(StoreError) -> PushHistory? {
        guard let now = try await current() else { return nil }
        let own = feed.map { FeedState.ownName($0) }
        let state = own == nil || now.feed == own ? now : try await look() ?? now
        return PushHistory(feed: state.feed, keysSince: self.state.withLock { $0.known?.keysSince ?? 0 })
    }

    // MARK: Checks

    /// Checks the feed.
    ///
    /// Concurrent callers share a check that begins after their calls.
    func look() async throws(StoreError) -> FeedState? {
        let task = state.withLock { state -> Looking in
            if let next = state.next { return next }
            if let running = state.running {
                let next = Looking {
                    _ = await running.value
                    self.state.withLock { state in
                        state.running = state.next
                        state.next = nil
                    }
                    return await self.perform()
                }
                state.next = next
                return next
            }
            let first = Looking { await self.perform() }
            state.running = first
            return first
        }
        return try await task.value.get()
    }

    private func perform() async -> Result<FeedState?, StoreError> {
        let result: Result<FeedState?, StoreError>
        do throws(StoreError) {
            result = .success(try await looked())
        } catch {
            result = .failure(error)
        }
        state.withLock { state in
            if state.next == nil { state.running = nil }
            switch result {
            case .success: state.trouble = nil
            case .failure(let error): state.trouble = (error, state.trouble?.since ?? .now)
            }
        }
        return result
    }

    private func looked() async throws(StoreError) -> FeedState? {
        guard let journal = journal() else { return nil }
        let isUrgent = state.withLock { state in
            defer { state.isUrgent = false }
            return state.isUrgent
        }
        do throws(StoreError) {
            return try await looked(in: journal, isUrgent: isUrgent)
        } catch {
            // The next check must still serve the waiting client.
            if isUrgent { state.withLock { $0.isUrgent = true } }
            throw error
        }
    }

    private func looked(in journal: Journal, isUrgent: Bool) async throws(StoreError) -> FeedState {
        let begin = ContinuousClock.now
        let deadline = begin.advanced(by: Self.patience)
        let look = FeedLook(journal: journal, gateway: gateway)
        let start = state.withLock { $0.numbers.start(now: begin) }
        var found = try await look.find(pendingAfter: start, until: deadline)
        if state.withLock({ !$0.knowsBeginning }) {
            let isNew = found.state.revision == FeedTables.beginning && found.firstPending == nil
            if isNew, found.state.earliest > 0, await isEmpty() {
                try await look.reachBack(until: deadline)
                found = try await look.find(pendingAfter: start, until: deadline)
            }
            state.withLock { $0.knowsBeginning = true }
        }
        try journal.tables.feed.floor.check(found.state.revision)
        let isTurn = state.withLock {
            $0.watch.looks(at: found.firstPending, isFree: found.isFree, isUrgent: isUrgent)
        }
        if isTurn, !isPaused() {
            if let highest = try await look.sequence(after: start, until: deadline) {
                state.withLock { $0.numbers.note(highest, now: .now) }
            }
            // Another gateway may have sequenced the awaited change.
            found = try await look.find(pendingAfter: start, until: deadline)
        }
        let known = state.withLock { $0.known?.state }
        let isGrown = known?.feed != found.state.feed || found.state.revision > known?.revision ?? 0
        if isGrown, !journal.tables.dialect.sequencesWithMerge {
            try await look.confirm(found.state.revision, until: deadline)
        }
        return publish(found, journal: journal, at: begin)
    }

    private func publish(
        _ found: FeedLook.Found, journal: Journal, at begin: ContinuousClock.Instant
    ) -> FeedState {
        journal.tables.feed.floor.raise(to: found.state.revision)
        state.withLock { state in
            if let known = state.known, known.state.feed != found.state.feed {
                // After a restore, rows of `pending` have lower numbers than before.
                state.numbers = SequencedNumbers()
                state.watch = PendingWatch()
            }
            state.known = Known(
                state: found.state, keysSince: found.keysSince, at: begin, journal: journal.tables.schema)
        }
        waiters.wake(found.state)
        return found.state
    }
}
