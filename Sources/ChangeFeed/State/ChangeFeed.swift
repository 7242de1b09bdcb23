package import MergeService
package import RecordStore
import Synchronization

/// The feed of changes as one gateway keeps it: looks at it again and again, gives revisions where it is its turn, and
/// wakes those who wait.
package final class ChangeFeed: Sendable {
    private typealias Looking = Task<Result<FeedState?, StoreError>, Never>

    /// The feed at the last look.
    private struct Known {
        let state: FeedState
        let keysSince: Int
        let at: ContinuousClock.Instant
        let journal: String
    }

    private struct State {
        var running: Looking?
        var next: Looking?
        /// A client of this gateway waits for a change of its own.
        var isUrgent = false
        var known: Known?
        var watch = PendingWatch()
        var numbers = SequencedNumbers()
        /// It is known whether the feed was there before the first row.
        var knowsBeginning = false
        var trouble: (error: StoreError, since: ContinuousClock.Instant)?
    }

    private let state = Mutex(State())
    private let waiters = FeedWaiters()
    private let journal: @Sendable () -> Journal?
    private let tell: @Sendable () async -> Void
    private let isEmpty: @Sendable () async -> Bool
    private let isPaused: @Sendable () -> Bool
    /// Names this gateway among those on the database.
    private let gateway = String(UInt64.random(in: .min ... .max), radix: 16)

    /// The time between two looks.
    private let interval: Duration
    /// The age at which what was seen has to be looked at again before it is told.
    private static let freshness = Duration.milliseconds(500)
    private static let patience = Duration.seconds(10)

    /// - Parameters:
    ///   - interval: the time between two looks; nobody waits for a change longer.
    ///   - journal: the journal that is open at the moment; nil where none is.
    ///   - tell: tells a journal that is written ahead which transactions have ended.
    ///   - isEmpty: tells if no resource has a record yet, so that a new feed is there before the first.
    ///   - isPaused: true while no revisions are to be given.
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

    /// Looks at the feed until the task is cancelled, and lets nobody wait any more then.
    package func run() async {
        while !Task.isCancelled {
            let hasFeed = (try? await look()) ?? nil
            try? await Task.sleep(for: hasFeed == nil ? max(interval, .milliseconds(500)) : interval)
        }
        close()
        guard let journal = journal() else { return }
        let look = FeedLook(journal: journal, gateway: gateway)
        // This task is cancelled by now, and a cancelled task may not wait for a connection.
        await Task { try? await look.leave(until: .now.advanced(by: .seconds(2))) }.value
    }

    /// Wakes everybody who waits, because the gateway stops.
    package func close() { waiters.close() }

    /// True once the gateway stops.
    package var isClosed: Bool { waiters.isClosed }

    /// Clients that wait for the feed to grow.
    package var waiting: Int { waiters.count }

    /// The reason for which the feed could not be looked at, and since when; nil while it can.
    package var trouble: (error: StoreError, since: ContinuousClock.Instant)? { state.withLock { $0.trouble } }

    /// The number of a row of `pending` up to which nearly all have had their revisions for a minute.
    package var sequencedLongAgo: Int { state.withLock { $0.numbers.floor } }

    // MARK: How it stands

    /// Returns the feed as it stood a moment ago, without the database where somebody has looked just now; nil where no
    /// journal is kept.
    ///
    /// - Throws: `StoreError` where it cannot be looked at.
    package func current() async throws(StoreError) -> FeedState? {
        guard journal() != nil else { return nil }
        if let fresh { return fresh }
        return try await look()
    }

    /// The feed as it stood a moment ago; nil where nobody has looked just now.
    package var fresh: FeedState? {
        guard let open = journal(), let known = state.withLock({ $0.known }), known.journal == open.tables.schema,
            ContinuousClock.now - known.at < Self.freshness
        else { return nil }
        return known.state
    }

    /// The feed as it was seen last, however long ago; nil where nobody has seen it yet.
    package var known: FeedState? { state.withLock { $0.known?.state } }

    /// Returns the feed with everything that was committed before.
    ///
    /// - Throws: `StoreError` where it cannot be looked at.
    package func catchUp() async throws(StoreError) -> FeedState? {
        await tell()
        state.withLock { $0.isUrgent = true }
        return try await look()
    }

    /// Makes sure that a server that is killed cannot lose a revision that a page has read.
    ///
    /// A commit can be visible before it is durable. It is durable once a later commit of this gateway is. On SQLite a
    /// visible commit is durable.
    ///
    /// - Returns: false if the feed was begun anew since.
    /// - Throws: `StoreError` if the revision is lost already, or the database cannot be used.
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

    /// Waits until the feed is beyond a revision, or the time is over.
    package func wait(beyond revision: Int, of feed: String, until deadline: ContinuousClock.Instant) async {
        await waiters.wait(beyond: revision, of: feed, until: deadline) {
            let known = self.state.withLock { $0.known?.state }
            return known.map { $0.revision > revision || $0.feed != feed } ?? false
        }
    }

    /// Returns the history that pushes are compared with; nil if no journal is kept.
    ///
    /// - Parameter feed: the feed that a client names. If this gateway has seen another feed, a second gateway may have
    ///   begun this one a moment ago, so the feed is read again.
    /// - Throws: `StoreError` if it cannot be read.
    package func history(named feed: String?) async throws(StoreError) -> PushHistory? {
        guard let now = try await current() else { return nil }
        let own = feed.map { FeedState.ownName($0) }
        let state = own == nil || now.feed == own ? now : try await look() ?? now
        return PushHistory(feed: state.feed, keysSince: self.state.withLock { $0.known?.keysSince ?? 0 })
    }

    // MARK: Looking

    /// Looks at the feed, with others who ask meanwhile: the look begins after all of them asked.
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
            // Who waits for a change of their own may have asked for the next look, and counts on it.
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
            // Also where nothing was left to do: another gateway was quicker, and has given what this one is asked for.
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
