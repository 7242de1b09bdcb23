/// The state of the feed that a gateway may report to clients.
package struct FeedState: Sendable, Hashable {
    /// The id of the history to which revisions belong.
    package let feed: String
    /// The latest revision.
    ///
    /// All changes up to it are committed and durable.
    package let revision: Int
    /// The earliest revision after which the feed has all changes.
    package let earliest: Int

    /// Makes a state.
    package init(feed: String, revision: Int, earliest: Int) {
        self.feed = feed
        self.revision = revision
        self.earliest = earliest
    }

    /// Separates a feed's own name from the part that depends on the client's rights.
    package static let mark: Character = "."

    /// Returns a feed's own name.
    package static func ownName(_ named: String) -> String { String(named.prefix { $0 != mark }) }

    /// Returns true if the feed has all changes after a revision.
    package func reaches(back revision: Int) -> Bool { (earliest...max(earliest, self.revision)).contains(revision) }
}
