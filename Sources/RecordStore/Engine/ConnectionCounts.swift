/// The current use of a connection pool.
package struct ConnectionCounts: Sendable, Hashable {
    /// Connections that are open or being opened.
    package let open: Int
    /// Open connections in use.
    package let used: Int
    /// The highest number of open connections.
    package let limit: Int
    /// Callers that wait for a connection.
    package let waiting: Int

    /// Bundles the counts of a pool.
    package init(open: Int, used: Int, limit: Int, waiting: Int) {
        self.open = open
        self.used = used
        self.limit = limit
        self.waiting = waiting
    }
}
