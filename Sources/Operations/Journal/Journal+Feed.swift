import MergeCore
package import MergeService
package import RecordStore

extension Journal {
    /// Begins another feed, so that every client takes a snapshot once.
    ///
    /// A journal restored from a backup needs this, because it would assign its revisions again.
    ///
    /// - Returns: the id of the feed, and its first revision.
    /// - Throws: `StoreError`; then nothing has changed.
    package func beginNewFeed() async throws(StoreError) -> (id: String, revision: Int) {
        let id = JournalOpener.newFeedID()
        let feed = tables.feed
        let first = try await engine.write(deadline: .now.advanced(by: .seconds(30))) { session throws(StoreError) in
            _ = try session.query(feed.lock)
            for statement in feed.beginAnew(id) { _ = try session.execute(statement) }
            return .commit(try session.query(feed.lock).first?.first)
        }
        guard case .integer(let revision)? = first else {
            throw StoreError(
                .schemaChanged, "the journal “\(tables.schema)” has no feed; “fieldmerge journal init” makes it")
        }
        return (id, Int(clamping: revision))
    }
}
