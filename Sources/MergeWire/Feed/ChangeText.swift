/// A changed record in the form for clients.
package struct ChangeText: Sendable {
    /// The push that changed a record.
    package struct Author: Sendable, Hashable {
        /// The token's name, or nil if the gateway requires no tokens.
        package let who: String?
        /// The device name that the client sent.
        package let device: String?
        /// The number of the journal entry.
        package let entry: Int

        /// Creates an author.
        package init(who: String?, device: String?, entry: Int) {
            self.who = who
            self.device = device
            self.entry = entry
        }
    }

    /// The revision of the last change.
    package let revision: Int
    /// The record in the form of `ChangesEncoder`.
    package let record: [UInt8]
    /// The author, or nil for a foreign change.
    package let author: Author?

    /// Creates a change.
    package init(revision: Int, record: [UInt8], author: Author?) {
        self.revision = revision
        self.record = record
        self.author = author
    }
}

/// A page of changes in the form for clients.
package struct ChangesText: Sendable {
    /// The id of the history that revisions count.
    package let feed: String
    /// The revision up to which a client with this page has everything.
    package let revision: Int
    /// True if more changes follow, or nil in an event.
    package let hasMore: Bool?
    /// The version of the rules.
    package let rules: String
    /// The changes in the order of revisions.
    package let changes: [ChangeText]

    /// Creates a page.
    package init(feed: String, revision: Int, hasMore: Bool?, rules: String, changes: [ChangeText]) {
        self.feed = feed
        self.revision = revision
        self.hasMore = hasMore
        self.rules = rules
        self.changes = changes
    }
}
