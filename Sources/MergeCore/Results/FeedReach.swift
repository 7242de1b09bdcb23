/// The part of a feed that is kept.
package struct FeedReach: Sendable, Hashable {
    /// The id of the history that revisions count.
    package let feed: String
    /// The lowest revision from which the feed can report changes.
    package let earliest: Int

    /// Creates a reach from a feed and its earliest revision.
    package init(feed: String, earliest: Int) {
        self.feed = feed
        self.earliest = earliest
    }
}
