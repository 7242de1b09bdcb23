/// The connections of a pool at one moment.
package struct ConnectionCounts: Sendable, Hashable {
    /// Those that are open, or being opened.
    package let open: Int
    /// Those of them that somebody uses.
    package let used: Int
    /// The number that may be open.
    package let limit: Int
    /// Callers that wait for one.
    package let waiting: Int

    /// Bundles what a pool counts.
    package init(open: Int, used: Int, limit: Int, waiting: Int) {
        self.open = open
        self.used = used
        self.limit = limit
        self.waiting = waiting
    }
}
