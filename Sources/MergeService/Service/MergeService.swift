package import MergeCore
package import RecordStore

/// The digest of a group's values as they stand on the wire: SHA-256 of their canonical JSON.
package typealias GroupDigest = @Sendable (_ section: Section, _ group: Int, _ values: [Value]) -> [UInt8]

/// Reads records and merges pushes: the work of a gateway on a request once it is typed.
package final class MergeService: Sendable {
    /// The database that holds the records.
    package let engine: any RecordEngine
    /// The bounds on what one request may ask of the database.
    package let limits: MergeLimits
    private let merging: PushMerging
    /// Pushes that may share transactions; nil where each has one of its own.
    private let pushes: BatchQueue<PushMerging>?
    /// Reads of single records that may share snapshots; nil where each has one of its own.
    private let reads: BatchQueue<RecordReads>?
    /// The records that could not be read.
    package let unreadable: UnreadableRecords
    /// Pushes under keys.
    package let keyed: KeyedExecution
    /// Pushes that run in transactions of their own, or wait for one.
    private let alone = Counted()
    let lengths: RecordLengths
    let longReads: Permits
    private let longPushes: Permits

    /// - Parameters:
    ///   - digest: makes digests of groups, for bases that are sent as one.
    ///   - form: writes answers.
    ///   - unreadable: remembers records that could not be read.
    package init(
        engine: any RecordEngine, limits: MergeLimits = MergeLimits(), digest: @escaping GroupDigest,
        form: @escaping AnswerWriting, unreadable: UnreadableRecords = UnreadableRecords()
    ) {
        let lengths = RecordLengths()
        let merging = PushMerging(
            engine: engine, limits: limits, digest: digest, form: form, fence: CommitFence(), lengths: lengths,
            unreadable: unreadable)
        self.unreadable = unreadable
        let shares = limits.coalesced > 1
        pushes = shares ? BatchQueue(limits, lanesHeldUp: limits.maximumLanes, merging) : nil
        // Nothing but a table that is locked as a whole holds reads up, so they need few lanes more.
        let lanesHeldUp = min(limits.maximumLanes, limits.lanes + 1)
        reads =
            shares
            ? BatchQueue(
                limits, lanesHeldUp: lanesHeldUp,
                RecordReads(engine: engine, limits: limits, lengths: lengths, unreadable: unreadable)) : nil
        keyed = KeyedExecution { active, deadline async throws(StoreError) in
            try await merging.settle(active, until: deadline)
        }
        longReads = Permits(limit: limits.longReads)
        longPushes = Permits(limit: limits.longPushes)
        self.lengths = lengths
        self.merging = merging
        self.engine = engine
        self.limits = limits
    }

    /// The queues of what may share transactions; none where nothing may.
    package var queues: [QueueLoad] { [pushes?.load("pushes"), reads?.load("reads")].compactMap(\.self) }

    /// Reads one record in one snapshot; nil where there is none.
    ///
    /// - Parameter viewer: the client that reads; nil for one who sees everything.
    package func record(
        _ resource: Resource, _ key: RecordKey, for viewer: Viewer? = nil, deadline: ContinuousClock.Instant,
        caller: Caller = Caller()
    ) async throws(StoreError) -> ReadRecord? {
        let isLong = lengths.long(key, of: resource) != nil
        if let reads, !isLong {
            let read = RecordRead(
                resource: resource, key: key, viewer: viewer, deadline: deadline, caller: caller)
            if case .answered(let record) = try await reads.submit(read) { return record }
        }
        try await longReads.acquire(if: isLong, until: deadline, for: caller)
        defer { longReads.release(if: isLong) }
        return try await recordAlone(resource, key, for: viewer, deadline: deadline)
    }

    private func recordAlone(
        _ resource: Resource, _ key: RecordKey, for viewer: Viewer?, deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> ReadRecord? {
        let record = try await engine.read(deadline: deadline) { session throws(StoreError) in
            try self.records([(resource, key)], in: session)[0]
        }
        lengths.note(record?.readable.map { [$0] } ?? [], of: resource)
        return record?.seen(by: viewer, of: resource)
    }

    /// Returns the bytes of the long records that a push names, as far as anybody knows: so long is the answer, which is
    /// refused where it would be longer than answers may be.
    package func length(ofRecordsIn push: Push) -> Int {
        let length = push.edits.reduce(0) { sum, edit in
            sum + (edit.id.key.flatMap { lengths.known($0, of: edit.resource) } ?? 0)
        }
        return min(length, limits.answerBytes)
    }

    /// Returns how many records of some resources are read at once at first.
    package func pieceSize(of resources: [Resource]) -> PieceSize {
        let long = resources.filter(\.mayBeLong)
        let means = long.map { lengths.mean(of: $0) }
        return PieceSize(
            mayBeLong: !long.isEmpty, mean: means.contains(nil) ? nil : means.compactMap(\.self).max())
    }

    /// Reads records in a session of its own, in its turn where one of them is long.
    package func reading<Answer: Sendable>(
        _ names: [(resource: Resource, key: RecordKey)], deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let isLong = names.contains { lengths.long($0.key, of: $0.resource) != nil }
        try await longReads.acquire(if: isLong, until: deadline)
        defer { longReads.release(if: isLong) }
        return try await engine.read(deadline: deadline, body)
    }

    /// Reads records of several resources in a session; nil for those that are gone.
    ///
    /// - Parameter digests: takes the digests of their rows; nil where nobody wants them.
    package func records(
        _ names: [(resource: Resource, key: RecordKey)], in session: any StoreSession, digests: RecordDigests? = nil
    ) throws(StoreError) -> [ReadRecord?] {
        let records = try RecordCollector(session, dialect: engine.dialect, limits: limits, digests: digests)
            .records(of: names.map { ($0.resource, Optional($0.key)) })
        for (name, record) in zip(names, records) { unreadable.note(record, key: name.key, of: name.resource) }
        return records
    }

    /// Reads no row of each section, to find out whether its columns are still what the rules were bound to.
    ///
    /// - Throws: `StoreError` of the kind `schemaChanged` if they are not.
    package func checkColumns(of resources: [Resource], deadline: ContinuousClock.Instant) async throws(StoreError) {
        let statements = resources.flatMap(\.sections).map { SectionSQL.of($0, engine.dialect).empty }
        try await engine.read(deadline: deadline) { session throws(StoreError) in
            for statement in statements { _ = try session.query(statement) }
        }
    }

    /// Tells journals that are written ahead which transactions were committed.
    package func tellEndedTransactions() async { await merging.fence.tell() }

    /// The time since which a COMMIT is in doubt, so that nothing can be pushed; nil if none is.
    package var inDoubtSince: ContinuousClock.Instant? { merging.fence.doubt?.since }

    /// Has recovery decide about a COMMIT in doubt; does nothing if there is none.
    ///
    /// - Throws: `StoreError` if it was not decided in time.
    package func settle(_ active: ActiveRules, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await merging.settle(active, until: deadline)
    }

    /// Refuses a push for a reason that concerns it as a whole, and keeps it.
    ///
    /// - Throws: a `Failure` if it cannot be kept.
    package func refuse(
        _ request: PushRequest, for problem: Problem, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer {
        let push: PushItem
        do throws(Problem) {
            push = PushItem(request, plan: try PushPlan(request.push), active: active, deadline: deadline)
        } catch {
            throw Failure(error)
        }
        do throws(StoreError) {
            return try await RefusedPush(push, for: problem).answer(merging)
        } catch {
            throw Failure(error)
        }
    }

    /// Merges a push in one transaction, with its key and its traces in the journal.
    ///
    /// - Throws: a `Failure` where there is no result: a fault in the request, or a database that cannot be used; its
    ///   cause is of the kind `knownKey` where the push was answered before.
    package func merge(
        _ request: PushRequest, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer {
        let push: PushItem
        do throws(Problem) {
            for edit in request.push.edits
            where active.catalog.readable(edit.resource.name, by: request.access) != nil {
                try active.requireInService(edit.resource)
            }
            if request.isPreview { try request.push.checkPreviewable() }
            push = PushItem(request, plan: try PushPlan(request.push), active: active, deadline: deadline)
        } catch {
            throw Failure(error)
        }
        do {
            switch try await ending(of: push) {
            case .merged(let answer): return answer
            case .fault(let problem): throw problem
            case .refused(let reports): return try await RefusedPush(push, reports).answer(merging)
            }
        } catch {
            let failure = Failure(any: error)
            if let fault = await journalFault(after: failure.cause, of: push) { throw Failure(fault) }
            if failure.cause?.kind == .unknownOutcome { startRecovery(active) }
            guard let cause = failure.cause,
                let problem = await UnexpectedErrors.refusal(of: push, after: cause, in: engine)
            else { throw failure }
            do throws(StoreError) {
                return try await RefusedPush(push, for: problem).answer(merging)
            } catch {
                throw Failure(error)
            }
        }
    }

    /// Returns the error of the journal if a push could not lock its tables: that error names no table.
    private func journalFault(after error: StoreError?, of push: PushItem) async -> StoreError? {
        guard error?.kind == .schemaChanged, !push.tablesWithoutTransactions.isEmpty, let journal = push.active.journal
        else { return nil }
        do throws(StoreError) {
            try await JournalProbe(journal).run(until: push.deadline)
            return nil
        } catch {
            return error.kind == .unwritable ? error : nil
        }
    }

    /// Starts recovery at once.
    ///
    /// A push with a key waits for it when the key is looked up.
    private func startRecovery(_ active: ActiveRules) {
        let deadline = ContinuousClock.now.advanced(by: Self.recoveryPatience)
        Task { [merging] in try? await merging.settle(active, until: deadline) }
    }

    private static let recoveryPatience = Duration.seconds(10)

    private func ending(of push: PushItem) async throws -> PushEnding {
        if !push.request.isPreview { try await merging.settle(push.active, until: push.deadline) }
        let namesLong = push.namesLong(lengths)
        let isLong = namesLong || push.isLong
        try await longPushes.acquire(if: isLong, until: push.deadline, for: push.request.caller)
        guard isLong else { return try await endingShared(of: push) }
        return try await longPushes.run(releasingAfter: limits.longPatience) {
            try await namesLong ? endingAlone(of: push) : endingShared(of: push)
        }
    }

    /// Runs a push in a transaction that it may share with others.
    private func endingShared(of push: PushItem) async throws(StoreError) -> PushEnding {
        if let pushes, let queued = QueuedPush(push), case .answered(let ending) = try await pushes.submit(queued) {
            return ending
        }
        return try await endingAlone(of: push)
    }

    /// Runs a push in a transaction of its own.
    private func endingAlone(of push: PushItem) async throws(StoreError) -> PushEnding {
        guard alone.enter(atMost: limits.waiting) else {
            throw StoreError(.overloaded, "too many pushes wait for a transaction of their own")
        }
        defer { alone.leave() }
        let merging = merging
        let ending = try await RetryPolicy.run(until: push.deadline) { () async throws(StoreError) in
            // A run that met a COMMIT in doubt runs again once that is decided.
            if !push.request.isPreview { try await merging.settle(push.active, until: push.deadline) }
            return try await engine.withConnection(for: .write, deadline: push.deadline) {
                connection throws(StoreError) in
                try merging.merge(
                    PushBatch([push]), on: connection, waits: true, locking: push.tablesWithoutTransactions)
            }
        }
        await merging.fence.tell(until: push.deadline)
        guard case .answered(let answered)? = ending.first else {
            throw StoreError(.other, "a push of its own ended without an answer")
        }
        return answered
    }

    /// Decides on what a gateway that ended in the middle of a merge left in doubt in a write-ahead journal.
    ///
    /// Only before the first push, by a process that has the journal's lock.
    package func recover(_ active: ActiveRules, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        guard let journal = active.journal.flatMap({ WriteAheadJournal($0) }) else { return }
        try await InDoubtRecovery(journal: journal, engine: engine, active: active, limits: limits)
            .run(until: deadline)
    }
}

extension Push {
    /// Refuses a preview of tables without transactions: a write is there at once, and triggers are never taken back.
    fileprivate func checkPreviewable() throws(Problem) {
        guard let edit = edits.first(where: { !$0.resource.isAtomic }) else { return }
        throw Problem(
            .noPreview,
            detail: "Tables of “\(edit.resource.name)” know no transactions, so nothing written there can be a trial.",
            path: edit.path, retry: .never)
    }
}

extension PushItem {
    /// The tables to lock as a whole: all of the push where one without transactions takes part, because a session that
    /// holds some may touch no others.
    fileprivate var tablesWithoutTransactions: [TableName] {
        let edits = request.push.edits
        guard edits.contains(where: { !$0.resource.isAtomic }) else { return [] }
        var tables = Set(edits.flatMap { $0.resource.sections.map(\.table) })
        var pending = Array(tables)
        while let table = pending.popLast() {
            for dependent in active.schema.dependents[table] ?? [] where tables.insert(dependent.table).inserted {
                pending.append(dependent.table)
            }
        }
        if let journal = active.journal, journal.ahead == nil {
            let feed = journal.tables.feed
            tables.formUnion([journal.tables.entries, journal.tables.meta, feed.pending, feed.feed, feed.changes])
            // What other records show of a row is looked for as well.
            tables.formUnion(active.catalog.resources.map(\.root.table))
        }
        return tables.sorted { $0.description < $1.description }
    }
}
