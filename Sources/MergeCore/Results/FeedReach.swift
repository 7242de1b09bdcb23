/// The part of a feed that is kept.
package struct FeedReach: Sendable, Hashable {
    /// Names the history that revisions count.
    package let feed: String
    /// The lowest revision from which changes can be told.
    package let earliest: Int

    /// Names a feed and where it begins.
    package init(feed: String, earliest: Int) {
        self.feed = feed
        self.earliest = earliest
    }
}
