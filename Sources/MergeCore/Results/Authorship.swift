/// The author of the value that a conflict met.
package struct Authorship: Sendable, Hashable {
    /// The push that wrote the value.
    package struct Author: Sendable, Hashable {
        /// The token's name, or nil if the gateway requires no tokens.
        package let who: String?
        /// The device name that the client sent.
        package let device: String?
        /// The time of the merge, in UTC.
        package let at: DateTime
        /// The number of the journal entry.
        package let entry: Int

        /// Creates an author.
        package init(who: String?, device: String?, at: DateTime, entry: Int) {
            self.who = who
            self.device = device
            self.at = at
            self.entry = entry
        }
    }

    /// The author, or nil if the journal contains none.
    package let author: Author?

    /// Wraps an author.
    package init(author: Author?) {
        self.author = author
    }
}
