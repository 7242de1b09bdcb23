package import RecordStore

/// A page of changes.
package struct FeedPage: Sendable {
    /// A changed record in its current version.
    package struct Change: Sendable {
        /// The revision of its last change.
        package let revision: Int
        /// The record as `FeedCodec` encodes it.
        package let record: [UInt8]
        /// The push that changed it; nil for a foreign change.
        package let push: SequencedChange.Push?
    }

    /// The id of the history to which revisions belong.
    package let feed: String
    /// The revision that a client has after reading the page.
    package let revision: Int
    /// True if the feed already has further changes.
    package let hasMore: Bool
    /// The changes in the order of revisions.
    package let changes: [Change]

    /// Makes a page.
    package init(feed: String, revision: Int, hasMore: Bool, changes: [Change]) {
        self.feed = feed
        self.revision = revision
        self.hasMore = hasMore
        self.changes = changes
    }

    /// The bytes of its records.
    package var length: Int { changes.reduce(0) { $0 + $1.record.count } }

    /// The page with `hasMore` set.
    package var withMore: FeedPage { FeedPage(feed: feed, revision: revision, hasMore: true, changes: changes) }
}

/// The answer to a request for changes.
package enum FeedAnswer: Sendable {
    case page(FeedPage)
    /// The feed in the page's snapshot cannot continue from the client's revision.
    case resync(FeedState)
}

/// A client's request for changes.
package struct FeedQuestion: Sendable, Hashable {
    /// The last revision that the client has.
    package let since: Int
    /// The requested resources in order; nil for all.
    package let resources: [String]?
    /// The maximum changes on a page.
    package let limit: Int

    /// Makes a request.
    package init(since: Int, resources: [String]?, limit: Int) {
        self.since = since
        self.resources = resources
        self.limit = limit
    }

    func among(_ readable: [String]) -> FeedQuestion {
        FeedQuestion(since: since, resources: resources?.filter(readable.contains) ?? readable, limit: limit)
    }
}
