import MergeCore
package import RecordStore

/// Gives committed changes their revisions.
///
/// The counter's row stays locked until the transaction ends, so that revisions are given in the order of commits,
/// whichever gateway gives them.
package enum Sequencing {
    /// Gives changes the next revisions, one for each record: the last change of a record counts.
    ///
    /// - Parameters:
    ///   - changes: in the order in which they were committed.
    ///   - holder: the gateway to which the others leave it for some seconds; nil leaves that as it is.
    /// - Returns: the highest revision that was given by then.
    /// - Throws: `StoreError`; of the kind `schemaChanged` where there is no feed.
    @discardableResult
    package static func give(
        _ changes: [CommittedChange], in feed: FeedTables, holder: String? = nil, _ session: any StoreSession
    ) throws(StoreError) -> Int {
        guard case .integer(let number)? = try session.query(feed.lock).first?.first else {
            throw StoreError(
                .schemaChanged,
                "the journal “\(feed.schema)” has lost its feed; begin another with “fieldmerge journal new-feed”")
        }
        var last = Int(clamping: number)
        var noted: [(change: CommittedChange, revision: Int)] = []
        for change in collapsed(changes) {
            last += 1
            noted.append((change, last))
        }
        if noted.isEmpty { return last }
        var statements = (feed.note(noted) + [feed.setLast(last, holder: holder)])[...]
        try session.run({ statements.popFirst() }) { _ in }
        return last
    }

    /// Each record once, where it changed last.
    static func collapsed(_ changes: [CommittedChange]) -> [CommittedChange] {
        var seen: Set<RecordName> = []
        return changes.reversed().filter { seen.insert($0.name).inserted }.reversed()
    }
}
