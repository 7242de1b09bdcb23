package import MergeCore

/// The current history of the database, for the check of pushes.
package struct PushHistory: Sendable, Hashable {
    let feed: String
    /// The time since which the journal has all keys, in microseconds since 1970.
    let keysSince: Int

    /// Returns the problem of a push that was built for another history, or nil.
    ///
    /// - Parameter named: the feed of the client's copy, or nil.
    package func problem(ofFeed named: String?) -> Problem? {
        guard let named, FeedState.ownName(named) != feed else { return nil }
        return Problem(
            .historyChanged,
            detail: "The database was restored or replaced since the client read these records, so they may be other "
                + "records now. Nothing was written. Take a snapshot and build the push again.", retry: .never)
    }

    /// Returns the problem of a push whose key may be deleted, or nil.
    ///
    /// - Parameter sent: the time of the first request with this key, in microseconds since 1970, or nil.
    package func problem(ofKeySent sent: Int?) -> Problem? {
        guard let sent, sent < keysSince else { return nil }
        return Problem(
            .keyExpired,
            detail: "The journal no longer has the keys of the time when this push was first sent, so it may have been "
                + "merged before. Nothing was written.", path: WirePath("sent"), retry: .never)
    }
}
