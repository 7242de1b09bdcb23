package import MergeCore
package import RecordStore

/// Computes the digest of a group's values: SHA-256 of their canonical JSON.
package typealias GroupDigest = @Sendable (_ section: Section, _ group: Int, _ values: [Value]) -> [UInt8]

/// Returns the current time in UTC; nil if it is no time that a column can store.
package typealias WallClock = @Sendable () -> DateTime?

/// Reads records and merges pushes, after the wire module has parsed the request.
package final class MergeService: Sendable {
    /// The database of the records.
    package let engine: any RecordEngine
    /// The limits of one request.
    package let limits: MergeLimits
    private let merging: PushMerging
    /// Pushes that may share transactions; nil if none may.
    private let pushes: BatchQueue<PushMerging>?
    /// Reads of single records that may share snapshots; nil if none may.
    private let reads: BatchQueue<RecordReads>?
    /// The records that could not be read.
    package let unreadable: UnreadableRecords
    /// Runs pushes with keys.
    package let keyed: KeyedExecution
    /// Pushes that run in their own transactions or wait for one.
    private let alone = Counted()
    let lengths: RecordLengths
    let longReads: Permits
    private let longPushes: Permits

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - digest: computes digests of groups, for clients that send a hash as base.
    ///   - form: encodes answers.
    ///   - unreadable: collects records that could not be read.
    ///   - clock: the time of stamps.
    package init(
        engine: any RecordEngine, limits: MergeLimits = MergeLimits(), digest: @escaping GroupDigest,
        form: @escaping AnswerWriting, unreadable: UnreadableRecords = UnreadableRecords(),
        clock: @escaping WallClock
    ) {
        let lengths = RecordLengths()
        let merging = PushMerging(
            engine: engine, limits: limits, digest: digest, form: form, fence: CommitFence(), lengths: lengths,
            unreadable: unreadable, clock: clock)
        self.unreadable = unreadable
        let shares = limits.coalesced > 1
        pushes = shares ? BatchQueue(limits, lanesHeldUp: limits.maximumLanes, merging) : nil
        // Only a table lock stalls reads, so they need only one additional lane.
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

    /// The load of the queues; empty if no transactions are shared.
    package var queues: [QueueLoad] { [pushes?.load("pushes"), reads?.load("reads")].compactMap(\.self) }

    /// Reads one record in one snapshot; nil if it does not exist.
    ///
    /// - Parameter viewer: the client that reads; nil without access rules.
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
        return try await recordAlone(resource, key: key, for: viewer, deadline: deadline)
    }

    private func recordAlone(
        _ resource: Resource, key: RecordKey, for viewer: Viewer?, deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> ReadRecord? {
        let record = try await engine.read(deadline: deadline) { session throws(StoreError) in
            try self.records([(resource, key)], in: session)[0]
        }
        lengths.note(record?.readable.map { [$0] } ?? [], of: resource)
        return record?.seen(by: viewer, of: resource)
    }

    /// Returns the bytes of the long records that a push names, which estimate the length of its answer.
    ///
    /// The estimate is at most the limit of answers.
    package func length(ofRecordsIn push: Push) -> Int {
        let length = push.edits.reduce(0) { sum, edit in
            sum + (edit.id.key.flatMap { lengths.known($0, of: edit.resource) } ?? 0)
        }
        return min(length, limits.answerBytes)
    }

    /// Returns the size of the first piece of some resources' records.
    package func pieceSize(of resources: [Resource]) -> PieceSize {
        let long = resources.filter(\.mayBeLong)
        let means = long.map { lengths.mean(of: $0) }
        return PieceSize(
            mayBeLong: !long.isEmpty, mean: means.contains(nil) ? nil : means.compactMap(\.self).max())
    }

    /// Runs a read in its own session; a read of long records waits for a permit.
    package func reading<Answer: Sendable>(
        _ names: [(resource: Resource, key: RecordKey)], deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let isLong = names.contains { lengths.long($0.key, of: $0.resource) != nil }
        try await longReads.acquire(if: isLong, until: deadline)
        defer { longReads.release(if: isLong) }
        return try await engine.read(deadline: deadline, body)
    }

    /// Reads records of several resources in a session; nil for missing records.
    ///
    /// - Parameter digests: collects the digests of their rows; nil if they are not needed.
    package func records(
        _ names: [(resource: Resource, key: RecordKey)], in session: any StoreSession, digests: RecordDigests? = nil
    ) throws(StoreError) -> [ReadRecord?] {
        let records = try RecordCollector(session, dialect: engine.dialect, limits: limits, digests: digests)
            .records(of: names.map { ($0.resource, Optional($0.key)) })
        for (name, record) in zip(names, records) { unreadable.note(record, key: name.key, of: name.resource) }
        return records
    }

    /// Reads the records again that could not be read for longest, so that `/readyz` does not name a repaired record.
    package func readUnreadableAgain(until deadline: ContinuousClock.Instant) async {
        let names = unreadable.current().compactMap { entry in entry.key.map { (entry.resource, $0) } }
        if names.isEmpty { return }
        _ = try? await engine.read(deadline: deadline) { [self] session throws(StoreError) in
            try records(Array(names.prefix(Self.unreadableReads)), in: session)
        }
    }

    /// Each unreadable record costs a few statements, and `/readyz` may read them every second.
    private static let unreadableReads = 20

    /// Checks that the columns of each section still match the rules, with queries that return no rows.
    ///
    /// - Throws: `StoreError` of the kind `schemaChanged` if they do not.
    package func checkColumns(of resources: [Resource], deadline: ContinuousClock.Instant) async throws(StoreError) {
        let statements = resources.flatMap(\.sections).map { SectionSQL.of($0, engine.dialect).empty }
        try await engine.read(deadline: deadline) { session throws(StoreError) in
            for statement in statements { _ = try session.query(statement) }
        }
    }

    /// Records commits in write-ahead journals.
    package func tellEndedTransactions() async { await merging.fence.tell() }

    /// The time since which a COMMIT is in doubt and no push can run; nil if none is.
    package var inDoubtSince: ContinuousClock.Instant? { merging.fence.doubt?.since }

    /// Waits until an in-doubt COMMIT is decided; does nothing if there is none.
    ///
    /// - Throws: `StoreError` if the deadline passes first.
    package func settle(_ active: ActiveRules, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await merging.settle(active, until: deadline)
    }

    /// Refuses a push as a whole and stores it.
    ///
    /// - Throws: a `Failure` if it cannot be stored.
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

    /// Merges a push in one transaction, with its key and its journal entries.
    ///
    /// - Throws: a `Failure` if there is no result, because of the request or the database. Its cause is of the kind
    ///   `knownKey` if the push was answered before.
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
        let fault: Problem
        do throws(StoreError) {
            switch try await outcome(of: push) {
            case .merged(let answer): return answer
            case .refused(let reports): return try await RefusedPush(push, reports).answer(merging)
            case .fault(let problem): fault = problem
            case .runAgain: preconditionFailure("A push runs until it has another end.")
            }
        } catch {
            return try await answer(to: push, after: error)
        }
        throw Failure(fault)
    }

    /// Refuses and stores a push whose error is final.
    ///
    /// - Throws: a `Failure` if the client must send the push again.
    private func answer(to push: PushItem, after error: StoreError) async throws(Failure) -> PushAnswer {
        if let fault = await journalFault(after: error, of: push) { throw Failure(fault) }
        if error.kind == .unknownOutcome { startRecovery(push.active) }
        guard let problem = await UnexpectedErrors.refusal(of: push, after: error, in: engine) else {
            throw Failure(error)
        }
        do throws(StoreError) {
            return try await RefusedPush(push, for: problem).answer(merging)
        } catch {
            throw Failure(error)
        }
    }

    /// That error names no table.
    private func journalFault(after error: StoreError, of push: PushItem) async -> StoreError? {
        guard error.kind == .schemaChanged, !push.tablesWithoutTransactions.isEmpty, let journal = push.active.journal
        else { return nil }
        do throws(StoreError) {
            try await JournalProbe(journal).run(until: push.deadline)
            return nil
        } catch {
            return error.kind == .unwritable ? error : nil
        }
    }

    /// Starts recovery in the background; the lookup of a key waits for it.
    private func startRecovery(_ active: ActiveRules) {
        let deadline = ContinuousClock.now.advanced(by: Self.recoveryPatience)
        Task { [merging] in try? await merging.settle(active, until: deadline) }
    }

    private static let recoveryPatience = Duration.seconds(10)

    private func outcome(of push: PushItem) async throws(StoreError) -> PushOutcome {
        if !push.request.isPreview { try await merging.settle(push.active, until: push.deadline) }
        let namesLong = push.namesLong(lengths)
        let isLong = namesLong || push.isLong
        try await longPushes.acquire(if: isLong, until: push.deadline, for: push.request.caller)
        guard isLong else { return try await run(push, mayShare: true) }
        return try await longPushes.run(releasingAfter: limits.longPatience) { () async throws(StoreError) in
            try await run(push, mayShare: !namesLong)
        }
    }

    /// Runs a push until it has an end: in a shared transaction first, if it may, and then in its own.
    ///
    /// This is the only loop that runs a push again under the same rules.
    private func run(_ push: PushItem, mayShare: Bool) async throws(StoreError) -> PushOutcome {
        var mode = RunMode(push)
        if mayShare, let pushes, let queued = QueuedPush(push) {
            let outcome = try await pushes.submit(queued)
            guard case .runAgain(let next) = outcome else { return outcome }
            mode = next
        }
        guard alone.enter(atMost: limits.waiting) else {
            throw StoreError(.overloaded, "too many pushes wait for a transaction of their own")
        }
        defer { alone.leave() }
        var retries = RetryPolicy()
        while true {
            do throws(StoreError) {
                let outcome = try await runOnce(push, mode: mode)
                guard case .runAgain(let next) = outcome else {
                    await merging.fence.tell(until: push.deadline)
                    return outcome
                }
                mode = next
            } catch {
                try await retries.pause(after: error, until: push.deadline)
            }
        }
    }

    private func runOnce(_ push: PushItem, mode: RunMode) async throws(StoreError) -> PushOutcome {
        // A run that met an in-doubt COMMIT runs again after the decision.
        if !push.request.isPreview { try await merging.settle(push.active, until: push.deadline) }
        let outcomes = try await engine.withConnection(for: .write, deadline: push.deadline) {
            [merging] connection throws(StoreError) in
            try merging.merge(
                PushBatch([push]), on: connection, mode: mode, waits: true, locking: push.tablesWithoutTransactions)
        }
        precondition(outcomes.count == 1, "A batch of one push has one outcome.")
        return outcomes[0]
    }

    /// Decides about transactions that a killed gateway left in doubt in a write-ahead journal.
    ///
    /// Only the process with the journal's lock may call it, before the first push.
    package func recover(_ active: ActiveRules, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        guard let journal = active.journal.flatMap({ WriteAheadJournal($0) }) else { return }
        try await InDoubtRecovery(journal: journal, engine: engine, active: active, limits: limits)
            .run(until: deadline)
    }
}

extension Push {
    /// Refuses a preview of tables without transactions: their writes cannot be rolled back, nor can those of triggers.
    fileprivate func checkPreviewable() throws(Problem) {
        guard let edit = edits.first(where: { !$0.resource.isAtomic }) else { return }
        throw Problem(
            .noPreview,
            detail: "Tables of “\(edit.resource.name)” have no transactions, so a preview is not possible.",
            path: edit.path, retry: .never)
    }
}

extension PushItem {
    /// All tables of a push with a table without transactions; they must be locked together.
    ///
    /// A session that has table locks cannot access other tables.
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
            // The push also searches the root tables of other resources.
            tables.formUnion(active.catalog.resources.map(\.root.table))
        }
        return tables.sorted { $0.description < $1.description }
    }
}
