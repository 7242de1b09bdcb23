package import MergeCore

/// What the journal stores of one device of a sender.
package struct ClientRow: Sendable, Hashable {
    /// The name of the sender, as in entries.
    package let who: String
    /// The device; empty if requests name none.
    package let device: String
    /// The program and its version; nil if no request names it.
    package let program: String?
    /// The own name of the feed that the client has last read; nil before the first read.
    package let feed: String?
    /// The revision that the client has.
    package let revision: Int?
    /// The time of its last requests, to two minutes; nil in a row that is not stored yet.
    package let seen: DateTime?

    /// Bundles the data of a device.
    package init(
        who: String, device: String, program: String?, feed: String?, revision: Int?, seen: DateTime? = nil
    ) {
        self.who = who
        self.device = device
        self.program = program
        self.feed = feed
        self.revision = revision
        self.seen = seen
    }
}
