import ChangeFeed
import RecordStore

/// The highest durable position of the history that a gateway has read.
///
/// A commit can be visible before it is durable. The feed reports a revision only after it is confirmed. Entries and
/// commits that were read with a revision are durable after a later revision is confirmed.
struct HistoryMemory: Sendable, Hashable {
    /// nil if no position was read yet.
    private(set) var highest: HistoryPosition?
    private var candidate: HistoryPosition?

    init(highest: HistoryPosition?) {
        self.highest = highest
    }

    /// Returns the highest position after a check that found the same history.
    mutating func advance(to found: HistoryPosition, confirmed: FeedState?) -> HistoryPosition {
        var now = found
        if let highest, highest.journal == found.journal, highest.feed == found.feed {
            now = highest
        } else {
            now.revision = found.epoch * FeedTables.epochSize
            now.entry = 0
            now.server.commits = CommitPosition("")
            candidate = nil
        }
        now.server.server = found.server.server
        if let confirmed, confirmed.feed == found.feed {
            now.revision = max(now.revision, confirmed.revision)
            if let seen = candidate, seen.feed == found.feed, confirmed.revision > seen.revision {
                now = now.union(seen)
                candidate = nil
            }
            if candidate == nil { candidate = found }
        }
        highest = now
        return now
    }
}
