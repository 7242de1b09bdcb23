package import MergeCore

/// The history that the database has now, as pushes are compared with it.
package struct PushHistory: Sendable, Hashable {
    /// The feed of the history.
    let feed: String
    /// The time since which the journal has all keys, in microseconds since 1970.
    let keysSince: Int

    /// Returns the problem of a push that was built for another history; nil if it was built for this one.
    ///
    /// Only the history is compared, and not what the client may see.
    ///
    /// - Parameter named: the feed of the client's copy; nil if the client did not send it.
    package func problem(ofFeed named: String?) -> Problem? {
        guard let named, FeedState.ownName(named) != feed else { return nil }
        return Problem(
            .historyChanged,
            detail: "The database was restored or replaced since the client read these records, so they may be other "
                + "records now. Nothing was written. Take a snapshot and build the push again.", retry: .never)
    }

    /// Returns the problem of a push whose key may be gone; nil if the journal has all keys of its time.
    ///
    /// - Parameter sent: when the push was first sent with its key, in microseconds since 1970; nil if the client did not send it.
    package func problem(ofKeySent sent: Int?) -> Problem? {
        guard let sent, sent < keysSince else { return nil }
        return Problem(
            .keyExpired,
            detail: "The journal no longer has the keys of the time when this push was first sent, so it may have been "
                + "merged before. Nothing was written.", path: WirePath("sent"), retry: .never)
    }
}
