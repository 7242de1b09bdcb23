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

    /// Separates a feed's own name from the part that differs between clients with different rights.
    package static let mark: Character = "."

    /// Returns a feed's own name.
    package static func ownName(_ named: String) -> String { String(named.prefix { $0 != mark }) }

    /// Returns true where changes after a revision can be told.
    package func reaches(back revision: Int) -> Bool { (earliest...max(earliest, self.revision)).contains(revision) }
}
