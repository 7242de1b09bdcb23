/// The answer to the question who wrote what a conflict met.
package struct Authorship: Sendable, Hashable {
    /// The push that wrote it.
    package struct Author: Sendable, Hashable {
        /// The token's name; nil where the gateway asked for none.
        package let who: String?
        /// The name that the client gives its device.
        package let device: String?
        /// The moment of the merge, in UTC.
        package let at: DateTime
        /// The number of the journal's entry.
        package let entry: Int

        /// Names the push that wrote something.
        package init(who: String?, device: String?, at: DateTime, entry: Int) {
            self.who = who
            self.device = device
            self.at = at
            self.entry = entry
        }
    }

    /// nil where the journal knows none.
    package let author: Author?

    /// Answers the question.
    package init(author: Author?) {
        self.author = author
    }
}
