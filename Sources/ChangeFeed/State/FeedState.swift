/// The state of the feed as a gateway may tell it to clients.
package struct FeedState: Sendable, Hashable {
    /// Names the history that revisions count.
    package let feed: String
    /// Every change up to this revision is committed, and kept whatever happens to the server.
    package let revision: Int
    /// The lowest revision from which changes can be told.
    package let earliest: Int

    /// Describes a feed.
    package init(feed: String, revision: Int, earliest: Int) {
        self.feed = feed
        self.revision = revision
        self.earliest = earliest
    }

    /// Returns true where changes after a revision can be told.
    package func reaches(back revision: Int) -> Bool { (earliest...max(earliest, self.revision)).contains(revision) }
}
