import ChangeFeed
import MergeCore
import MergeService
import Operations
import RecordStore

/// `unless` of a snapshot: the feed that the client followed until now, with or without its revision.
struct FormerFeed {
    /// The records that the client has.
    let records: FormerFilter
    /// The client's revision; nil if it is unknown.
    private let revision: Int?

    /// Reads `unless` of a query or, if it is missing there, of the snapshot that continues.
    ///
    /// - Parameters:
    ///   - state: the client's feed now.
    ///   - client: the client's rights without its filter.
    /// - Returns: nil for a complete snapshot.
    /// - Throws: a 410 `Problem` if the client needs a complete snapshot, 400 if a cursor belongs to another `unless`.
    init?(
        _ query: Query, from start: SnapshotCursor?, at state: FeedState, under active: ActiveRules,
        for client: ClientAccess?
    ) throws(Problem) {
        let sent = try query.text("unless")
        if let start, let sent, start.unless.map({ $0.isExactly(sent) }) != true {
            throw Problem(.invalid, about: .query, detail: "“after” is the cursor of a snapshot with another “unless”.")
        }
        guard let text = sent ?? start?.unless else { return nil }
        let position = EventText.position(text)
        let current = FeedName(text: state.feed)
        guard let name = FeedName(text: position?.feed ?? text), current?.hasSameRights(as: name) == true else {
            throw FeedAccess.resync(state)
        }
        var filter: RecordFilter?
        if let text = name.filter {
            guard let read = try? ChosenFilter(Array(text.utf8), under: active, for: client) else {
                throw FeedAccess.resync(state)
            }
            filter = read.records
        }
        revision = start?.revision ?? position?.revision
        // Without a revision, the client may lack any change of the feed.
        guard state.reaches(back: revision ?? FeedTables.beginning) else { throw FeedAccess.resync(state) }
        records = FormerFilter(feed: text, filter: filter)
    }

    /// Returns the state from which changes continue: the client's records may be as old as its revision.
    func begin(of state: FeedState) -> FeedState {
        FeedState(feed: state.feed, revision: revision ?? FeedTables.beginning, earliest: state.earliest)
    }
}
