import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Reads pages of changes with the current version of each record.
package final class FeedReader: Sendable {
    private let service: MergeService
    private let feed: ChangeFeed
    private let codec: FeedCodec
    private let shown: ShownRecords
    private let cache = RecordTextCache()
    private let shared = Mutex(Shared())
    /// The bytes after which a page ends early.
    private static let mostBytes = 8 << 20
    private static let sharedFor = Duration.milliseconds(500)
    private static let sweepEvery = Duration.milliseconds(100)
    private static let mostShared = 256

    private struct Shared {
        var reading: [Asked: (task: Task<Result<FeedAnswer, StoreError>, Never>, at: ContinuousClock.Instant)] = [:]
        var swept = ContinuousClock.now
    }

    private struct Asked: Hashable {
        let question: FeedQuestion
        let state: FeedState
        let rules: String
        let access: ClientAccess?
    }

    /// - Parameter shown: stores delivery records.
    package init(service: MergeService, feed: ChangeFeed, codec: FeedCodec, shown: ShownRecords) {
        self.shown = shown
        self.service = service
        self.feed = feed
        self.codec = codec
    }

    /// A page that is being read for one or more clients.
    package enum Reading: Sendable {
        /// The page has no changes, so that nothing is read.
        case empty(FeedPage)
        case begun(Task<Result<FeedAnswer, StoreError>, Never>)

        /// Waits for the answer.
        package func answer() async throws(StoreError) -> FeedAnswer {
            switch self {
            case .empty(let page): .page(page)
            case .begun(let task): try await task.value.get()
            }
        }
    }

    /// Reads a page.
    ///
    /// Equal requests at the same time share one read.
    ///
    /// All data come from one snapshot of the database, so that a record that changes meanwhile is not omitted.
    ///
    /// - Parameters:
    ///   - state: the latest known state of the feed.
    ///   - active: the rules, with a journal.
    ///   - access: the client's rights; nil for all rights.
    package func answer(
        _ question: FeedQuestion, at state: FeedState, under active: ActiveRules, for access: ClientAccess? = nil,
        _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> FeedAnswer {
        try await begin(question, at: state, under: active, for: access, deadline).answer()
    }

    /// Begins to read a page like `answer`, without waiting for it.
    package func begin(
        _ question: FeedQuestion, at state: FeedState, under active: ActiveRules, for access: ClientAccess? = nil,
        _ deadline: ContinuousClock.Instant
    ) -> Reading {
        let nothing = Reading.empty(
            FeedPage(feed: state.feed, revision: state.revision, hasMore: false, changes: []))
        guard question.since < state.revision, let journal = active.journal else {
            return nothing
        }
        let readable = access.map { active.catalog.readable(by: $0).map(\.name) }
        let question = readable.map { question.among($0) } ?? question
        if question.resources?.isEmpty == true { return nothing }
        let asked = Asked(question: question, state: state, rules: active.catalog.version, access: access)
        let now = ContinuousClock.now
        let task = shared.withLock { shared in
            if shared.reading.count >= Self.mostShared, now - shared.swept > Self.sweepEvery {
                shared.swept = now
                shared.reading = shared.reading.filter { now - $0.value.at < Self.sharedFor }
            }
            if let known = shared.reading[asked], now - known.at < Self.sharedFor { return known.task }
            let task = Task {
                let result = await self.read(
                    question, of: state.feed,
                    from: PageSource(active: active, journal: journal, access: access), until: deadline)
                if case .failure = result { self.shared.withLock { $0.reading[asked] = nil } }
                return result
            }
            if shared.reading.count < Self.mostShared { shared.reading[asked] = (task, now) }
            return task
        }
        return .begun(task)
    }

    /// - Parameter named: the client's name of the feed.
    private func read(
        _ question: FeedQuestion, of named: String, from source: PageSource, until deadline: ContinuousClock.Instant
    ) async -> Result<FeedAnswer, StoreError> {
        do throws(StoreError) {
            let journal = source.journal
            // Reads two SQLite files one after another. Overlapping reads could deadlock with a COMMIT that locks the
            // files in another order.
            guard journal.ahead == nil, !journal.tables.dialect.isFile else {
                let found = try await journal.engine.read(deadline: deadline) { session throws(StoreError) in
                    try self.found(question, of: named, from: source, in: session)
                }
                guard found.isServed else { return .success(.resync(found.state)) }
                let read = try await service.engine.read(deadline: deadline) { session throws(StoreError) in
                    try self.page(found, to: question, of: named, from: source, in: session)
                }
                return .success(try await sent(read, at: found.state, in: journal, until: deadline))
            }
            let (found, read) = try await service.engine.read(deadline: deadline) { session throws(StoreError) in
                let found = try self.found(question, of: named, from: source, in: session)
                guard found.isServed else { return (found, ReadPage?.none) }
                return (found, try self.page(found, to: question, of: named, from: source, in: session))
            }
            guard let read else { return .success(.resync(found.state)) }
            return .success(try await sent(read, at: found.state, in: journal, until: deadline))
        } catch {
            return .failure(error)
        }
    }

    private struct ReadPage: Sendable {
        let page: FeedPage
        /// Records that were not in the cache.
        var read: [ReadRecord] = []
    }

    private struct ReadRecord: Sendable {
        let text: RecordTextCache.Text
        /// nil if no delivery record is needed.
        let shown: ShownRecords.Read?
        /// True if every client gets the record in this form.
        let isForEverybody: Bool
    }

    /// Confirms the page's revision, stores delivery records, then caches the records.
    private func sent(
        _ read: ReadPage, at state: FeedState, in journal: Journal, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> FeedAnswer {
        let upTo = FeedState(feed: state.feed, revision: read.page.revision, earliest: state.earliest)
        guard try await feed.confirm(upTo, in: journal) else { return .resync(state) }
        if read.read.isEmpty { return .page(read.page) }
        try await shown.note(
            read.read.compactMap(\.shown), at: read.page.revision, in: journal, until: deadline)
        cache.keep(read.read.filter(\.isForEverybody).map(\.text), now: .now)
        return .page(read.page)
    }

    private struct PageSource {
        let active: ActiveRules
        let journal: Journal
        let access: ClientAccess?

        /// Returns the resources of which the client may read only some records.
        func departing(among names: [String]?) -> [String] {
            guard let viewer = access?.viewer else { return [] }
            return (names ?? []).filter { name in
                active.catalog[name].flatMap { viewer.view(of: $0) }.map { !$0.mayReadEveryRow } ?? false
            }
        }
    }

    private struct Found: Sendable {
        /// The feed in the snapshot of the changes.
        let state: FeedState
        /// False if the client needs a new snapshot.
        var isServed = true
        /// In the order of revisions.
        var changes: [SequencedChange] = []
        var hasMore = false
    }

    private func found(
        _ question: FeedQuestion, of named: String, from source: PageSource, in session: any StoreSession
    ) throws(StoreError) -> Found {
        let feed = source.journal.tables.feed
        let state = try feed.state(session.query(feed.reach).first)
        guard state.feed == FeedState.ownName(named), state.reaches(back: question.since) else {
            return Found(state: state, isServed: false)
        }
        // One more row reveals further changes.
        let limit = question.limit + 1
        let rows = try session.query(
            feed.changes(since: question.since, upTo: state.revision, resources: question.resources, limit: limit))
        let changes = rows.prefix(question.limit).compactMap { feed.change($0) }
        let departing = source.departing(among: question.resources)
        if departing.isEmpty { return Found(state: state, changes: changes, hasMore: rows.count == limit) }
        let last = rows.count == limit ? changes.last?.revision ?? state.revision : state.revision
        let departures = try session.query(
            feed.departures(since: question.since, upTo: last, resources: departing, limit: limit)
        ).compactMap { feed.change($0, isDeparture: true) }
        if departures.isEmpty { return Found(state: state, changes: changes, hasMore: rows.count == limit) }
        let all = (departures + changes).sorted { $0.revision < $1.revision }
        return Found(
            state: state, changes: Array(all.prefix(question.limit)),
            hasMore: rows.count == limit || all.count > question.limit)
    }

    private func page(
        _ all: Found, to question: FeedQuestion, of named: String, from source: PageSource,
        in session: any StoreSession
    ) throws(StoreError) -> ReadPage {
        let outOfService = source.active.outOfService
        let found = Array(all.changes.prefix { !outOfService.contains($0.name.resource) })
        if found.isEmpty, let change = all.changes.first {
            throw StoreError(.schemaChanged, "the resource “\(change.name.resource)” is out of service")
        }
        var read: [ReadRecord] = []
        var told = ToldChanges()
        var bytes = 0
        var start = 0
        var size = service.pieceSize(of: Set(found.map(\.name.resource)).compactMap { source.active.catalog[$0] })
        while start < found.count, bytes < Self.mostBytes {
            let piece = found[start..<min(start + size.records, found.count)]
            start = piece.endIndex
            let before = bytes
            for (name, change) in try self.read(piece, to: question, source, in: session, &read) {
                bytes += change.record.count
                told.append(change, of: name)
            }
            size.note(records: piece.count, bytes: bytes - before)
        }
        let hasMore = start < all.changes.count || all.hasMore
        let latest = all.state.revision
        let last = start > 0 ? found[start - 1].revision : latest
        return ReadPage(
            page: FeedPage(
                feed: named, revision: hasMore ? last : latest, hasMore: hasMore, changes: told.changes),
            read: read)
    }

    /// Returns the records of some changes, without those of resources that the rules no longer have.
    ///
    /// - Parameter read: receives the records that were not in the cache.
    private func read(
        _ piece: ArraySlice<SequencedChange>, to question: FeedQuestion, _ source: PageSource,
        in session: any StoreSession, _ read: inout [ReadRecord]
    ) throws(StoreError) -> [(name: RecordName, change: FeedPage.Change)] {
        let catalog = source.active.catalog
        let viewer = source.access?.viewer
        let now = ContinuousClock.now
        var texts = cache.texts(of: piece, under: catalog.version, now: now)
        var views: [ResourceView?] = []
        if let viewer {
            views = piece.map { change in catalog[change.name.resource].flatMap { viewer.view(of: $0) } }
            // A record that depends on the client's rights is read again.
            for index in views.indices where views[index] != nil { texts[index] = nil }
        }
        let wanted = zip(piece, texts.indices).filter { change, index in
            guard texts[index] == nil else { return false }
            // If the client can read the record again, its latest change reports it instead of the departure.
            return !change.isDeparture || views[index]?.sees(latestOf: change) == false
        }.map(\.1)
        if !wanted.isEmpty {
            for (index, sent) in try unread(wanted, of: piece, source, in: session, now) {
                texts[index] = sent.text
                read.append(sent)
            }
        }
        var changes: [(RecordName, FeedPage.Change)] = []
        changes.reserveCapacity(texts.count)
        for (change, (index, text)) in zip(piece, texts.enumerated()) {
            guard let text else { continue }
            if text.isGone, !views.isEmpty, let view = views[index],
                !view.mayHaveSeen(change, since: question.since)
            {
                continue
            }
            changes.append(
                (change.name, FeedPage.Change(revision: change.revision, record: text.bytes, push: change.push)))
        }
        return changes
    }

    private func unread(
        _ wanted: [Int], of piece: ArraySlice<SequencedChange>, _ source: PageSource, in session: any StoreSession,
        _ now: ContinuousClock.Instant
    ) throws(StoreError) -> [(index: Int, read: ReadRecord)] {
        let catalog = source.active.catalog
        let viewer = source.access?.viewer
        var named: [(index: Int, resource: Resource, key: RecordKey)] = []
        for index in wanted {
            let name = piece[piece.startIndex + index].name
            guard let resource = catalog[name.resource], let key = codec.key(name.record, resource.root) else {
                continue
            }
            named.append((index, resource, key))
        }
        let hashKey = shown.hashKey(of: source.journal)
        let digests = hashKey.map { RecordDigests(key: $0) }
        let records = try service.records(
            named.map { ($0.resource, $0.key) }, in: session, digests: digests)
        return zip(named, records).map { entry, record in
            let (index, resource, key) = entry
            let change = piece[piece.startIndex + index]
            let seen = record?.seen(by: viewer, of: resource)
            let sent = digests.map { digests in
                ShownRecords.Read(
                    ShownRecord(change.name.record, of: resource, digests: digests.sections(of: key, in: resource)),
                    change: change.isDeparture ? nil : change.revision)
            }
            let text = RecordTextCache.Text(
                codec.record(resource, key, seen), isGone: seen == nil, of: change, under: catalog.version, at: now)
            return (
                index,
                ReadRecord(text: text, shown: sent, isForEverybody: viewer?.view(of: resource) == nil)
            )
        }
    }
}

/// The changes of a page, with each record only at its last position.
private struct ToldChanges {
    private var all: [FeedPage.Change?] = []
    private var places: [RecordName: Int] = [:]

    mutating func append(_ change: FeedPage.Change, of name: RecordName) {
        if let former = places.updateValue(all.count, forKey: name) { all[former] = nil }
        all.append(change)
    }

    var changes: [FeedPage.Change] { all.compactMap(\.self) }
}

extension ResourceView {
    /// Returns true if the client can read a record after its last change.
    fileprivate func sees(latestOf change: SequencedChange) -> Bool {
        change.conditions?.latest.map { shows(anyOf: [$0], or: false) } ?? false
    }

    /// Returns true if the client could read a record since a revision, or until its departure.
    fileprivate func mayHaveSeen(_ change: SequencedChange, since revision: Int) -> Bool {
        // A record that does not match a filter counts as seen: a client has it from the answer to its own push, or from
        // a time when the record matched.
        if mayReadEveryRow { return true }
        let tuples =
            change.isDeparture
            ? change.conditions?.tuples(endedAt: change.revision) : change.conditions?.tuples(since: revision)
        // Without known values, the record is reported.
        guard let tuples else { return true }
        return shows(anyOf: tuples, or: true)
    }

    /// - Parameter unknown: the result for values of columns that conditions no longer read.
    private func shows(anyOf tuples: [[UInt8]], or unknown: Bool) -> Bool {
        tuples.contains { bytes in
            guard let tuple = ConditionTuple(bytes: bytes, of: resource) else { return unknown }
            return !grants(onConditions: tuple.values).isEmpty
        }
    }
}
