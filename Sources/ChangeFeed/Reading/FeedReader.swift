import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Reads pages of changes, each record as it is at that moment.
package final class FeedReader: Sendable {
    private let service: MergeService
    private let codec: FeedCodec
    private let shown: ShownRecords
    private let cache = RecordTextCache()
    private let shared = Mutex<[Asked: (task: Task<Result<FeedPage, StoreError>, Never>, at: ContinuousClock.Instant)]>(
        [:])
    /// The bytes after which a page ends early.
    private static let mostBytes = 8 << 20
    private static let sharedFor = Duration.milliseconds(500)
    private static let mostShared = 256

    private struct Asked: Hashable {
        let question: FeedQuestion
        let state: FeedState
        let rules: String
        let access: ClientAccess?
    }

    /// - Parameters:
    ///   - codec: the forms of records and keys.
    ///   - shown: notes what is sent.
    package init(service: MergeService, codec: FeedCodec, shown: ShownRecords) {
        self.shown = shown
        self.service = service
        self.codec = codec
    }

    /// Reads a page; those who ask for the same at once get the same.
    ///
    /// - Parameters:
    ///   - state: how the feed stands: nothing beyond its revision is told.
    ///   - active: the rules, with a journal.
    ///   - access: the rights of the client; nil for one who sees everything.
    /// - Throws: `StoreError`.
    package func page(
        _ question: FeedQuestion, at state: FeedState, under active: ActiveRules, for access: ClientAccess? = nil,
        _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> FeedPage {
        guard question.since < state.revision, let journal = active.journal else {
            return FeedPage(feed: state.feed, revision: state.revision, hasMore: false, changes: [])
        }
        let readable = access.map { active.catalog.readable(by: $0).map(\.name) }
        let question = readable.map { question.among($0) } ?? question
        if question.resources?.isEmpty == true {
            return FeedPage(feed: state.feed, revision: state.revision, hasMore: false, changes: [])
        }
        let asked = Asked(question: question, state: state, rules: active.catalog.version, access: access)
        let now = ContinuousClock.now
        let task = shared.withLock { shared in
            if shared.count >= Self.mostShared { shared = shared.filter { now - $0.value.at < Self.sharedFor } }
            if let known = shared[asked], now - known.at < Self.sharedFor { return known.task }
            let task = Task {
                await self.read(
                    question, at: state,
                    from: PageSource(active: active, journal: journal, access: access), until: deadline)
            }
            if shared.count < Self.mostShared { shared[asked] = (task, now) }
            return task
        }
        let result = await task.value
        if case .failure = result { shared.withLock { $0[asked] = nil } }
        return try result.get()
    }

    private func read(
        _ question: FeedQuestion, at state: FeedState, from source: PageSource, until deadline: ContinuousClock.Instant
    ) async -> Result<FeedPage, StoreError> {
        do throws(StoreError) {
            let journal = source.journal
            // One more tells whether there are others.
            let statement = journal.tables.feed.changes(
                since: question.since, upTo: state.revision, resources: question.resources, limit: question.limit + 1)
            // Whoever holds one of two SQLite files while it waits for the other would wait in a circle with a COMMIT
            // that locks them in another order.
            guard journal.ahead == nil, !journal.tables.dialect.isFile else {
                let rows = try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
                    try session.query(statement)
                }
                return .success(
                    try await sent(
                        service.engine.read(deadline: deadline) { session throws(StoreError) in
                            try self.page(rows, to: question, at: state, from: source, in: session)
                        }, journal, deadline))
            }
            return .success(
                try await sent(
                    service.engine.read(deadline: deadline) { session throws(StoreError) in
                        let rows = try session.query(statement)
                        return try self.page(rows, to: question, at: state, from: source, in: session)
                    }, journal, deadline))
        } catch {
            return .failure(error)
        }
    }

    /// A page with what was read for it.
    private struct ReadPage: Sendable {
        let page: FeedPage
        /// Records that nobody has read a moment ago.
        var read: [ReadRecord] = []
    }

    /// A record that was read for a page.
    private struct ReadRecord: Sendable {
        let name: RecordTextCache.Name
        let text: [UInt8]?
        /// nil where nobody needs to know what was sent.
        let shown: ShownRecords.Read?
        /// Every client sees it so.
        let isForEverybody: Bool
    }

    /// Notes what a page is about to tell; only then others may have what was read for it.
    private func sent(
        _ read: ReadPage, _ journal: Journal, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> FeedPage {
        let now = ContinuousClock.now
        try await shown.note(
            read.read.compactMap(\.shown), at: read.page.revision, in: journal, until: deadline)
        cache.keep(read.read.filter(\.isForEverybody).map { ($0.name, $0.text) }, now: now)
        return read.page
    }

    /// The sources that a page is read from.
    private struct PageSource {
        let active: ActiveRules
        let journal: Journal
        let access: ClientAccess?
    }

    private func page(
        _ rows: [[Value]], to question: FeedQuestion, at state: FeedState, from source: PageSource,
        in session: any StoreSession
    ) throws(StoreError) -> ReadPage {
        let feed = source.journal.tables.feed
        var read: [ReadRecord] = []
        let found = rows.prefix(question.limit).compactMap { feed.change($0) }
        var changes: [FeedPage.Change] = []
        var bytes = 0
        var start = 0
        var size = service.pieceSize(of: Set(found.map(\.name.resource)).compactMap { source.active.catalog[$0] })
        while start < found.count, bytes < Self.mostBytes {
            let piece = found[start..<min(start + size.records, found.count)]
            start = piece.endIndex
            let before = bytes
            for change in try self.read(piece, to: question, source, in: session, &read) {
                bytes += change.record?.count ?? 0
                changes.append(change)
            }
            size.note(records: piece.count, bytes: bytes - before)
        }
        let hasMore = start < found.count || rows.count > question.limit
        let last = start > 0 ? found[start - 1].revision : state.revision
        return ReadPage(
            page: FeedPage(
                feed: state.feed, revision: hasMore ? last : state.revision, hasMore: hasMore, changes: changes),
            read: read)
    }

    /// The records of some changes; those of resources that the rules do not have any more are left out.
    ///
    /// - Parameter read: takes what nobody has read a moment ago.
    private func read(
        _ piece: ArraySlice<SequencedChange>, to question: FeedQuestion, _ source: PageSource,
        in session: any StoreSession, _ read: inout [ReadRecord]
    ) throws(StoreError) -> [FeedPage.Change] {
        let version = source.active.catalog.version
        let viewer = source.access?.viewer
        let now = ContinuousClock.now
        var named: [(change: SequencedChange, resource: Resource, key: RecordKey)] = []
        for change in piece {
            guard let resource = source.active.catalog[change.name.resource],
                let key = codec.key(change.name.record, resource.root)
            else { continue }
            named.append((change, resource, key))
        }
        var texts = cache.texts(named.map { Self.name($0.change, version) }, now: now)
        // What a client may see is worked out anew from the record.
        for (index, entry) in named.enumerated() where viewer?.view(of: entry.resource) != nil { texts[index] = nil }
        let wanted = texts.indices.filter { texts[$0] == nil }
        let hashKey = shown.hashKey(of: source.journal)
        let digests = hashKey.map { RecordDigests(key: $0) }
        let records = try service.records(
            wanted.map { (named[$0].resource, named[$0].key) }, in: session, digests: digests)
        for (index, record) in zip(wanted, records) {
            let entry = named[index]
            let view = viewer?.view(of: entry.resource)
            let text = record?.seen(by: viewer, of: entry.resource).map { codec.record($0, entry.resource) }
            texts[index] = .some(text)
            var sent: ShownRecords.Read?
            if let digests {
                let shown = ShownRecord(
                    entry.resource, entry.change.name.record, digests.sections(of: entry.key, in: entry.resource),
                    digests.key)
                sent = ShownRecords.Read(shown, change: entry.change.revision)
            }
            read.append(
                ReadRecord(
                    name: Self.name(entry.change, version), text: text, shown: sent, isForEverybody: view == nil))
        }
        return zip(named, texts).compactMap { entry, text in
            if text == .some(nil), let view = viewer?.view(of: entry.resource),
                !view.mayHaveSeen(entry.change, since: question.since)
            {
                return nil
            }
            return FeedPage.Change(
                revision: entry.change.revision, resource: entry.resource, key: entry.key, record: text ?? nil,
                push: entry.change.push)
        }
    }

    private static func name(_ change: SequencedChange, _ version: String) -> RecordTextCache.Name {
        RecordTextCache.Name(record: change.name, revision: change.revision, rules: version)
    }
}

extension ResourceView {
    /// Returns true where the client may have seen a record at some time since a revision.
    fileprivate func mayHaveSeen(_ change: SequencedChange, since revision: Int) -> Bool {
        if seesEveryRow { return true }
        // Where it is not known, it counts as seen.
        guard let tuples = change.conditions?.tuples(since: revision) else { return true }
        return tuples.contains { bytes in
            guard let tuple = ConditionTuple(bytes: bytes, of: resource) else { return true }
            return !grants(onConditions: tuple.values).isEmpty
        }
    }
}
