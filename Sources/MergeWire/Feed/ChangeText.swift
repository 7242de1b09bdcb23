/// A record that changed, as clients are told of it.
package struct ChangeText: Sendable {
    /// The push that changed a record.
    package struct Author: Sendable, Hashable {
        /// The token's name; nil where the gateway asks for none.
        package let who: String?
        /// The name that the client gives its device.
        package let device: String?
        /// The number of the journal's entry.
        package let entry: Int

        /// Names the push that changed a record.
        package init(who: String?, device: String?, entry: Int) {
            self.who = who
            self.device = device
            self.entry = entry
        }
    }

    /// The revision of its last change.
    package let revision: Int
    /// The record as `ChangesEncoder` writes it.
    package let record: [UInt8]
    /// nil where a program changed it that bypasses the gateway.
    package let author: Author?

    /// Makes a change out of its parts.
    package init(revision: Int, record: [UInt8], author: Author?) {
        self.revision = revision
        self.record = record
        self.author = author
    }
}

/// A page of changes, as clients are told of it.
package struct ChangesText: Sendable {
    /// Names the history that revisions count.
    package let feed: String
    /// Whoever has the page has everything up to this revision.
    package let revision: Int
    /// nil in an event, which others follow by themselves.
    package let hasMore: Bool?
    /// The version of the rules.
    package let rules: String
    /// In the order of revisions.
    package let changes: [ChangeText]

    /// Makes a page out of its parts.
    package init(feed: String, revision: Int, hasMore: Bool?, rules: String, changes: [ChangeText]) {
        self.feed = feed
        self.revision = revision
        self.hasMore = hasMore
        self.rules = rules
        self.changes = changes
    }
}
