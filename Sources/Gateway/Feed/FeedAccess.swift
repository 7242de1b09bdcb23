import ChangeFeed
import MergeCore
import MergeService
import Operations
import RecordStore

/// Answers requests of a client to the change feed.
struct FeedAccess: Sendable {
    let feed: ChangeFeed
    let reader: FeedReader
    /// Stores delivery records.
    let shown: ShownRecords
    /// The client's rights; nil without access rules.
    var access: ClientAccess?

    /// Returns the feed for a client with other rights.
    func seen(by access: ClientAccess?) -> FeedAccess {
        FeedAccess(feed: feed, reader: reader, shown: shown, access: access)
    }

    /// Returns the current state of the feed.
    ///
    /// - Throws: a 404 `Problem` if the journal is off, or a `StoreError`.
    func current() async throws -> FeedState {
        guard let state = try await feed.current() else { throw Self.noFeed }
        return named(state)
    }

    /// Returns the state with the client's name of the feed, which depends on its rights.
    func named(_ state: FeedState) -> FeedState { state.named(for: access) }

    /// Waits for changes after a revision.
    ///
    /// - Parameter named: the client's name of the feed.
    func wait(beyond revision: Int, of named: String, until deadline: ContinuousClock.Instant) async {
        await feed.wait(beyond: revision, of: FeedState.ownName(named), until: deadline)
    }

    /// Finds the revision from which a client continues.
    ///
    /// - Returns: the revision and the current state; the latest revision if `since` is nil.
    /// - Throws: a `Problem`: 404 if the journal is off, 410 if the client needs a new snapshot.
    func position(
        since: Int?, of named: String?
    ) async throws -> (since: Int, state: FeedState) {
        var state = try await current()
        guard let since else { return (state.revision, state) }
        // Another gateway may be ahead, or the feed may have a new name.
        if since > state.revision || named.map({ !$0.isExactly(state.feed) }) ?? false,
            let newest = try await feed.catchUp()
        {
            state = self.named(newest)
        }
        guard Self.isServed(since: since, of: named, by: state) else { throw Self.resync(state) }
        return (since, state)
    }

    /// Reads a page of changes.
    ///
    /// - Throws: a 410 `Problem` if the client needs a new snapshot, or a `StoreError`.
    func page(
        _ question: FeedQuestion, at state: FeedState, under active: ActiveRules, _ deadline: ContinuousClock.Instant
    ) async throws -> FeedPage {
        switch try await reader.answer(question, at: state, under: active, for: access, deadline) {
        case .page(let page): return page
        case .resync(let now): throw Self.resync(named(now))
        }
    }

    /// Returns true if a feed contains all changes after a revision.
    static func isServed(since: Int, of named: String?, by state: FeedState) -> Bool {
        state.reaches(back: since) && (named.map { $0.isExactly(state.feed) } ?? (since == 0))
    }

    /// The problem of a client that needs a new snapshot.
    static func resync(_ state: FeedState) -> Problem {
        var problem = Problem(
            .resync,
            detail:
                "The changes after this revision are no longer stored. Take a snapshot and continue from its revision.")
        problem.feed = FeedReach(feed: state.feed, earliest: state.earliest)
        return problem
    }

    /// The problem if the journal is off.
    static let noFeed = Problem(
        .noFeed, detail: "The gateway runs without a journal, so it has no changes and no snapshot.")
}
