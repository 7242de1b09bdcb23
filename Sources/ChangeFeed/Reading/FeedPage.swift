package import RecordStore

/// A page of changes.
package struct FeedPage: Sendable {
    /// A record that changed, as it is now.
    package struct Change: Sendable {
        /// The revision of its last change.
        package let revision: Int
        /// The record as `FeedCodec` writes it.
        package let record: [UInt8]
        /// The push that changed it; nil for a program that bypasses the gateway.
        package let push: SequencedChange.Push?
    }

    /// Names the history that revisions count.
    package let feed: String
    /// Whoever has the page has everything up to this revision.
    package let revision: Int
    /// More has changed, and can be asked for at once.
    package let hasMore: Bool
    /// In the order of revisions.
    package let changes: [Change]

    /// Makes a page of changes.
    package init(feed: String, revision: Int, hasMore: Bool, changes: [Change]) {
        self.feed = feed
        self.revision = revision
        self.hasMore = hasMore
        self.changes = changes
    }

    /// The bytes of its records.
    package var length: Int { changes.reduce(0) { $0 + $1.record.count } }

    /// The same page, behind which more may be asked for at once.
    package var withMore: FeedPage { FeedPage(feed: feed, revision: revision, hasMore: true, changes: changes) }
}

/// The answer to a question about changes.
package enum FeedAnswer: Sendable {
    case page(FeedPage)
    /// In the page's own snapshot the feed was another, or did not reach back to the client's revision.
    case resync(FeedState)
}

/// The changes that a client asks for.
package struct FeedQuestion: Sendable, Hashable {
    /// The revision up to which the client has everything.
    package let since: Int
    /// The resources that it wants, in order; nil for all.
    package let resources: [String]?
    /// Changes on a page.
    package let limit: Int

    /// Asks for a page of changes.
    package init(since: Int, resources: [String]?, limit: Int) {
        self.since = since
        self.resources = resources
        self.limit = limit
    }

    /// Returns the question for some resources alone.
    func among(_ readable: [String]) -> FeedQuestion {
        FeedQuestion(since: since, resources: resources?.filter(readable.contains) ?? readable, limit: limit)
    }
}
