import ChangeFeed
import MergeCore
import MergeService
import Operations
import RecordStore

/// The feed as requests ask it: whether it reaches back, and what has changed.
struct FeedAccess: Sendable {
    let feed: ChangeFeed
    let reader: FeedReader
    /// Notes what is sent.
    let shown: ShownRecords
    /// The client's rights; nil where no resource has rules of access.
    var access: ClientAccess?

    /// Returns the feed as a client with other rights asks it.
    func seen(by access: ClientAccess?) -> FeedAccess {
        FeedAccess(feed: feed, reader: reader, shown: shown, access: access)
    }

    /// - Returns: how the feed stands.
    /// - Throws: a 404 `Problem` where no journal is kept, or a `StoreError`.
    func current() async throws -> FeedState {
        guard let state = try await feed.current() else { throw Self.noFeed }
        return named(state)
    }

    /// Returns the state of the feed under the name that it has for the client: another for one who sees otherwise.
    func named(_ state: FeedState) -> FeedState { state.named(for: access) }

    /// Waits for news.
    ///
    /// - Parameters:
    ///   - revision: the revision that the client knows.
    ///   - named: the feed under the name that it has for the client.
    func wait(beyond revision: Int, of named: String, until deadline: ContinuousClock.Instant) async {
        await feed.wait(beyond: revision, of: FeedState.ownName(named), until: deadline)
    }

    /// Finds the revision from which a client goes on.
    ///
    /// - Returns: the revision, and the feed as it stands; the latest revision where the client names none.
    /// - Throws: a `Problem`: 404 where no journal is kept, 410 where the feed does not reach back to it.
    func position(
        since: Int?, of named: String?
    ) async throws -> (since: Int, state: FeedState) {
        var state = try await current()
        guard let since else { return (state.revision, state) }
        // Another gateway may be ahead by a moment, and an older feed may have ended.
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
    /// - Throws: a 410 `Problem` if the feed does not reach back to the client's revision any more, or a `StoreError`.
    func page(
        _ question: FeedQuestion, at state: FeedState, under active: ActiveRules, _ deadline: ContinuousClock.Instant
    ) async throws -> FeedPage {
        switch try await reader.answer(question, at: state, under: active, for: access, deadline) {
        case .page(let page): return page
        case .resync(let now): throw Self.resync(named(now))
        }
    }

    /// Returns true where a feed tells what changed after a revision.
    static func isServed(since: Int, of named: String?, by state: FeedState) -> Bool {
        state.reaches(back: since) && (named.map { $0.isExactly(state.feed) } ?? (since == 0))
    }

    /// The problem of a client that cannot go on from where it is.
    static func resync(_ state: FeedState) -> Problem {
        var problem = Problem(
            .resync,
            detail: "Changes from this revision on are not kept: take a snapshot, and go on from its revision.")
        problem.feed = FeedReach(feed: state.feed, earliest: state.earliest)
        return problem
    }

    /// The problem of a gateway that keeps no journal.
    static let noFeed = Problem(
        .noFeed, detail: "The gateway runs without a journal, so nobody knows what has changed.")
}
