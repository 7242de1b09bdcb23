package import MergeCore
package import MergeService
package import RecordStore

/// Reads single records for GET, and stores delivery records if a scan needs them.
///
/// The scan skips a changed row if its record has a revision after the last complete pass, because clients that read
/// this revision get a delivery record. A client that has a newer revision and reads the record by GET never reads it.
/// So GET stores a delivery record too.
package struct PlainReads: Sendable {
    private let service: MergeService
    private let shown: ShownRecords

    /// Makes a reader that stores delivery records if `shown` is on.
    package init(service: MergeService, shown: ShownRecords) {
        self.service = service
        self.shown = shown
    }

    /// Reads one record; nil if the client may read no record with this key.
    ///
    /// - Parameter viewer: nil for all rights.
    package func record(
        _ resource: Resource, _ key: RecordKey, under active: ActiveRules, for viewer: Viewer?,
        deadline: ContinuousClock.Instant, caller: Caller
    ) async throws(StoreError) -> ReadRecord? {
        guard let journal = active.journal, let hashKey = shown.hashKey(of: journal), resource.root.keyCount > 0 else {
            return try await service.record(resource, key, for: viewer, deadline: deadline, caller: caller)
        }
        let name = RecordName(resource: resource.name, record: journal.codec.key(key, resource.root))
        // Read first, because the client will read all later revisions.
        guard
            let change = try await Self.change(
                journal.tables.feed.unscannedChange(of: name), in: journal, until: deadline)
        else {
            return try await service.record(resource, key, for: viewer, deadline: deadline, caller: caller)
        }
        let (record, shownRecord) = try await service.reading([(resource, key)], deadline: deadline) {
            [service] session throws(StoreError) in
            let digests = RecordDigests(key: hashKey)
            let record = try service.records([(resource, key)], in: session, digests: digests)[0]
            return (record, ShownRecord(name.record, of: resource, digests: digests.sections(of: key, in: resource)))
        }
        try await shown.note(
            [ShownRecords.Read(shownRecord, change: change.revision)], at: change.latest, in: journal, until: deadline)
        return record?.seen(by: viewer, of: resource)
    }

    private static func change(
        _ statement: Statement, in journal: Journal, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> (latest: Int, revision: Int)? {
        let rows = try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
            try session.query(statement)
        }
        guard case .integer(let latest)? = rows.first?[0], case .integer(let revision)? = rows.first?[1] else {
            return nil
        }
        return (Int(clamping: latest), Int(clamping: revision))
    }
}
