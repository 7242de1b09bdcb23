import MergeCore
import RecordStore

/// Merges batches of pushes, each in one transaction.
final class PushMerging: Sendable {
    let engine: any RecordEngine
    let limits: MergeLimits
    let digest: GroupDigest
    let form: AnswerWriting
    let fence: CommitFence
    let lengths: RecordLengths
    let unreadable: UnreadableRecords
    let clock: WallClock

    init(
        engine: any RecordEngine, limits: MergeLimits, digest: @escaping GroupDigest, form: @escaping AnswerWriting,
        fence: CommitFence, lengths: RecordLengths, unreadable: UnreadableRecords, clock: @escaping WallClock
    ) {
        self.clock = clock
        self.unreadable = unreadable
        self.engine = engine
        self.limits = limits
        self.digest = digest
        self.form = form
        self.fence = fence
        self.lengths = lengths
    }

    /// Waits until an in-doubt COMMIT is decided; does nothing if there is none.
    ///
    /// If another process owns the journal, that process runs the recovery.
    ///
    /// - Throws: `StoreError` if the deadline passes first.
    func settle(_ active: ActiveRules, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        guard let journal = active.journal.flatMap({ WriteAheadJournal($0) }) else { return }
        let isOwner = journal.store.isClaimed
        try await fence.open(until: deadline) { known async throws(StoreError) in
            guard isOwner else { return try await journal.waitForOwner(until: deadline) }
            try await InDoubtRecovery(journal: journal, engine: engine, active: active, limits: limits, known: known)
                .run(until: deadline)
        }
    }

    /// Runs the transaction of a batch once, on a connection.
    ///
    /// - Parameters:
    ///   - waits: if true, the merge waits for locks.
    ///   - tables: tables to lock completely.
    /// - Returns: the end of each push.
    /// - Throws: `StoreError`; nothing was written unless its kind is `unknownOutcome`.
    func merge(
        _ batch: PushBatch, on connection: any StoreConnection, mode: RunMode, waits: Bool,
        locking tables: [TableName] = []
    ) throws(StoreError) -> [PushOutcome] {
        let patience = batch.items.map(\.patience)
        connection.wait(as: waits ? patience[0] : .shared(by: patience))
        let deadline = batch.items.map(\.deadline).min() ?? .now
        let writer = JournalWriter(batch.journal, fence, until: deadline)
        var isCommitted = false
        do throws(StoreError) {
            let outcomes = try connection.write(locking: tables) { session throws(StoreError) in
                let transaction = PushTransaction(
                    RunEnvironment(batch, self, session: session, mode: mode, waits: waits))
                let ending = try run(transaction, writer)
                if case .commit = ending { isCommitted = true }
                return ending
            }
            writer.transactionHasEnded(isCommitted ? .committed : .rolledBack)
            return outcomes
        } catch {
            writer.transactionHasEnded(error.kind == .unknownOutcome ? .unknown : .rolledBack)
            guard case .constraint = error.kind, !batch.isShared else { throw error }
            // A constraint that the database checks only at COMMIT names no row.
            return [.refused(batch.plan.push.edits.map { EditReport($0, problem: error.problem) })]
        }
    }

    private func run(
        _ transaction: PushTransaction, _ writer: JournalWriter
    ) throws(StoreError) -> Ending<[PushOutcome]> {
        let batch = transaction.run.batch
        do throws(PushStop) {
            guard batch.isShared || !batch.items[0].isOverdue else { throw .store(Self.late) }
            guard let records = try transaction.merge() else {
                return .rollback([.refused(transaction.progress.reports)])
            }
            try transaction.readMovedItems(records)
            try transaction.others.findAll(transaction.progress, transaction.facts.before)
            let outcomes = try transaction.run.reading { () throws(StoreError) in
                let kept = try answers(transaction, records)
                // The encoder stops at the deadline, so its bytes may be incomplete.
                guard batch.isShared || !batch.items[0].isOverdue else { throw Self.late }
                for push in kept { try push?.answer.checkLength(limits) }
                if !batch.items[0].request.isPreview {
                    try writer.keep(kept.compactMap(\.self), in: transaction.run.session)
                }
                return zip(batch.items, kept).map { item, push -> PushOutcome in
                    push.map { .merged($0.answer) } ?? .runAgain(RunMode(item))
                }
            }
            return batch.items[0].request.isPreview ? .rollback(outcomes) : .commit(outcomes)
        } catch {
            try transaction.writer.compensate()
            return .rollback(try Self.outcomes(after: error, transaction))
        }
    }

    private static func outcomes(
        after stop: PushStop, _ transaction: PushTransaction
    ) throws(StoreError) -> [PushOutcome] {
        if case .store(let cause) = stop { throw cause }
        let run = transaction.run
        // A second shared run would fail again.
        if run.batch.isShared { return run.batch.items.map { .runAgain(RunMode($0)) } }
        switch stop {
        case .store(let cause): throw cause
        case .fault(let problem): return [.fault(problem)]
        case .refused(let refusal): return [outcome(ofRefusing: refusal, in: transaction)]
        case .again(.without(let edit, let problem)):
            return [outcome(ofRefusing: EditRefusal(edit: edit, problem: problem), in: transaction)]
        case .again(let reason): return [.runAgain(run.mode.changed(by: reason))]
        }
    }

    /// If edits are independent, the next run leaves the edit out; otherwise the push is refused.
    private static func outcome(ofRefusing refusal: EditRefusal, in transaction: PushTransaction) -> PushOutcome {
        if transaction.run.isEachForItself {
            return .runAgain(transaction.run.mode.changed(by: .without(refusal.edit, refusal.problem)))
        }
        transaction.progress.rollBack(transaction.writer, of: transaction.plan.push)
        transaction.progress.reports[refusal.edit].problem = refusal.problem
        return .refused(transaction.progress.reports)
    }

    static let late = StoreError(.busy, "its time was over, or its caller gone")

    /// Makes the answers; nil for a push that must run alone.
    private func answers(
        _ transaction: PushTransaction, _ records: [ReadRecord?]
    ) throws(StoreError) -> [KeptPush?] {
        let batch = transaction.run.batch
        let progress = transaction.progress
        for (report, record) in zip(progress.reports, records) {
            lengths.note(record?.readable.map { [$0] } ?? [], of: report.resource)
            if let key = report.key { unreadable.note(record, key: key, of: report.resource) }
        }
        return try batch.items.indices.map { number throws(StoreError) -> KeptPush? in
            if progress.excluded.contains(number) { return nil }
            let request = batch.items[number].request
            let range = batch.ranges[number]
            let shown = zip(range, records[range]).map { report, record in
                // A preview writes nothing, so it grants no right to read.
                let roles = request.isPreview ? progress.reports[report].held : nil
                return record?.seen(by: transaction.run.view(of: report), under: roles ?? .all)
            }
            var assembly = ResultAssembly(
                push: request.push, reports: progress.reports[range], wasRolledBack: false)
            var result = assembly.result(shown[...])
            let repeated = RepeatedWrites(progress.reports[range])
            assembly.repeated = repeated
            let ownWrites = repeated.isEmpty ? nil : assembly.result(shown[...])
            if request.tellsAuthors {
                result = try AuthorSearch(
                    journal: batch.active.journal, active: batch.active, session: transaction.run.session
                ).told(result)
            }
            let told = request.access.map {
                result.seen(by: $0.viewer, in: batch.active, as: progress.reports[range])
            }
            let answer = PushAnswer(to: request, result: result, told: told ?? result) {
                form($0, $1) { batch.isShared || !batch.items[number].isOverdue }
            }
            let draft = try batch.journal.map { journal throws(StoreError) in
                try JournalDraft(
                    request, result: ownWrites ?? result, answer: answer, active: batch.active, codec: journal.codec,
                    elsewhere: { transaction.others.changed(by: range.lowerBound + $0) },
                    step: { edit in
                        let index = range.lowerBound + edit
                        return transaction.conditionStep(of: index, to: records[index])
                    })
            }
            return KeptPush(answer: answer, draft: draft, effects: request.effects(of: result))
        }
    }
}

/// Batches that run on lanes never wait for a lock, because all their pushes would wait.
extension PushMerging: BatchWork {
    var purpose: TransactionKind { .write }

    func run(
        _ items: [QueuedPush], on connection: any StoreConnection
    ) throws(StoreError) -> [PushOutcome] {
        try merge(
            PushBatch(items.map(\.push)), on: connection, mode: items.count > 1 ? .shared : RunMode(items[0].push),
            waits: false)
    }

    /// If the COMMIT certainly failed, each push runs again alone.
    func answers(to items: [QueuedPush], after error: StoreError) throws(StoreError) -> [PushOutcome] {
        if error.kind == .unknownOutcome { throw error }
        return items.map { .runAgain(RunMode($0.push)) }
    }

    func laneHasClosed() async { await fence.tell() }
}

extension PushBatch {
    /// The journal that records the pushes; nil for a preview and if the journal is off.
    var journal: Journal? { items[0].request.isPreview ? nil : active.journal }
}
