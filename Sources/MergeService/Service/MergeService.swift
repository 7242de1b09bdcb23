package import MergeCore
package import RecordStore

/// The digest of a group's values as they stand on the wire: SHA-256 of their canonical JSON.
package typealias GroupDigest = @Sendable (_ section: Section, _ group: Int, _ values: [Value]) -> [UInt8]

/// Reads records and merges pushes: the work of a gateway on a request once it is typed.
package struct MergeService: Sendable {
    package let engine: any RecordEngine
    package let limits: MergeLimits
    let digest: GroupDigest
    /// Writes answers.
    let form: @Sendable (PushResult, AnswerForm) -> [UInt8]
    /// Marks that transactions have left in a journal that is written aside.
    private let marks: AsideMarks
    /// Gathers pushes into shared transactions; nil where each has one of its own.
    private let coalescer: Coalescer<SharedTransactions>?
    /// Gathers reads of single records; nil where each has a snapshot of its own.
    private let readers: Coalescer<SharedReads>?
    /// Pushes under keys.
    private let keyed: KeyedExecution
    /// Pushes that run in transactions of their own, or wait for one.
    private let alone = Counted()

    package init(
        engine: any RecordEngine, limits: MergeLimits = MergeLimits(), digest: @escaping GroupDigest,
        form: @escaping @Sendable (PushResult, AnswerForm) -> [UInt8]
    ) {
        let marks = AsideMarks()
        let shared = SharedTransactions(
            engine: engine, limits: limits, digest: digest, form: form, marks: marks)
        coalescer = limits.coalesced > 1 ? Coalescer(limits, shared) : nil
        // Nothing but a table that is locked as a whole holds reads up, so they need few lanes more.
        var readLimits = limits
        readLimits.maximumLanes = min(limits.maximumLanes, limits.lanes + 1)
        readers = limits.coalesced > 1 ? Coalescer(readLimits, SharedReads(engine: engine, limits: limits)) : nil
        keyed = KeyedExecution { [limits] served, deadline async throws(StoreError) in
            try await Self.recover(engine, served, limits, deadline)
        }
        self.marks = marks
        self.engine = engine
        self.limits = limits
        self.digest = digest
        self.form = form
    }

    /// One record in one snapshot; nil where there is none.
    package func record(
        _ resource: Resource, _ key: RecordKey, deadline: ContinuousClock.Instant, caller: Caller = Caller()
    ) async throws(StoreError) -> Record? {
        if let readers {
            let read = RecordRead(resource: resource, key: key, deadline: deadline, caller: caller)
            if case .answered(let record) = try await readers.submit(read) { return record }
        }
        return try await engine.read(deadline: deadline) { session throws(StoreError) in
            try reader(resource, session).records([key], locking: false)[0]
        }
    }

    private func reader(_ resource: Resource, _ session: any StoreSession) -> RecordReader {
        RecordReader(
            resource: resource, session: session, dialect: engine.dialect, rowsPerRecord: limits.rowsPerRecord)
    }

    /// Answers a push under its key: what was answered once is answered again, and nothing takes effect twice.
    ///
    /// - Parameter run: comes to an answer, mostly with `merge`; it may be called again.
    /// - Throws: a `Failure` where there is no result: a fault in the request, or a database that cannot be used.
    package func answer(
        under key: PushKey?, served: Served, deadline: ContinuousClock.Instant,
        run: () async throws(Failure) -> PushAnswer
    ) async throws(Failure) -> PushAnswer {
        try await keyed.answer(under: key, served: served, deadline: deadline, run: run)
    }

    /// Merges a push in one transaction, with its key and its traces in the journal.
    ///
    /// - Throws: a `Failure` where there is no result: a fault in the request, or a database that cannot be used; its
    ///   cause is of the kind `knownKey` where the push was answered before.
    package func merge(
        _ request: PushRequest, served: Served, deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer {
        let plan = try Self.plan(request)
        if let coalescer, let job = Job(request, plan, served, deadline) {
            do throws(StoreError) {
                // What shares a transaction and is answered there is merged, and kept.
                if case .answered(let answer) = try await coalescer.submit(job) { return answer }
            } catch {
                throw Failure(error)
            }
        }
        guard alone.enter(atMost: limits.waiting) else {
            throw Failure(StoreError(.overloaded, "too many pushes wait for a transaction of their own"))
        }
        defer { alone.leave() }
        return try await mergeAlone(request, plan, served, deadline)
    }

    private static func plan(_ request: PushRequest) throws(Failure) -> PushPlan {
        do throws(Problem) {
            if request.isPreview { try checkPreviewable(request.push) }
            return try PushPlan(request.push)
        } catch {
            throw Failure(problem: error, cause: nil)
        }
    }

    /// Merges a push in a transaction of its own.
    private func mergeAlone(
        _ request: PushRequest, _ plan: PushPlan, _ served: Served, _ deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer {
        do {
            return try await run(request, plan, served, deadline)
        } catch {
            throw Failure(any: error)
        }
    }

    /// Settles what a gateway that ended in the middle of a merge left open in a journal of its own.
    package func recover(_ served: Served, _ deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await Self.recover(engine, served, limits, deadline)
    }

    private static func recover(
        _ engine: any RecordEngine, _ served: Served, _ limits: MergeLimits, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        guard let aside = served.journal.flatMap({ AsideJournal($0) }) else { return }
        try await aside.settle(engine, served, limits, deadline)
    }

    private func run(
        _ request: PushRequest, _ plan: PushPlan, _ served: Served, _ deadline: ContinuousClock.Instant,
        mode: WriteMode = WriteMode()
    ) async throws -> PushAnswer {
        let dialect = engine.dialect
        let attempt: PushAttempt
        let aside = request.isPreview ? nil : served.journal.flatMap { AsideJournal($0) }
        let token = aside == nil ? "" : AsideJournal.newToken()
        do {
            attempt = try await engine.write(deadline: deadline, locking: Self.tablesToLock(request.push, served)) {
                [limits, digest, form, marks] session throws(StoreError) -> Ending<PushAttempt> in
                // It may have waited for its turn.
                guard ContinuousClock.now < deadline, !request.caller.hasLeft else {
                    throw StoreError(.busy, "its time was over, or its caller gone, before its transaction began")
                }
                let run = PushRun(
                    plan, served, session: session, dialect: dialect, limits: limits, digest: digest,
                    journal: request.isPreview ? nil : served.journal, mode: mode)
                let ending = try run.run { reports, records in
                    let result = ResultAssembly(push: request.push, reports: reports[...], wasRolledBack: false)
                        .result(records[...])
                    let answer = PushAnswer(request, result, form)
                    return KeptPush(
                        answer: answer,
                        draft: request.isPreview
                            ? nil
                            : served.journal.map { JournalDraft(request, result, answer, served, $0.codec) })
                } keep: { kept throws(StoreError) in
                    guard let draft = kept.draft, let journal = served.journal else { return }
                    if let aside {
                        try Self.noting { () throws(StoreError) in
                            try marks.announce([draft], token: token, in: aside)
                        }
                    } else {
                        try Self.keep([draft], in: journal, session)
                        if kept.takesEffect { try Self.mark(request.effects, in: journal, session) }
                    }
                }
                guard request.isPreview, case .commit(let attempt) = ending else { return ending }
                return .rollback(attempt)
            }
            // A mark that stays is settled by whoever looks a key up next.
            if let aside, attempt.answer != nil {
                marks.end(
                    AsideMarks.Mark(
                        aside: aside, token: token, isCommitted: true,
                        effects: attempt.takesEffect ? request.effects : []))
                await marks.clear()
            }
        } catch {
            if let aside, error.kind != .unknownOutcome { try? await aside.withdraw(token, deadline) }
            guard case .constraint = error.kind else { throw error }
            attempt = Self.refusedAtCommit(request.push, error.problem)
        }
        if let fault = attempt.fault { throw Failure(problem: fault, cause: nil) }
        if let answer = attempt.answer { return answer }
        if let difference = attempt.difference {
            try await refuseIfUnchanged(difference, served, deadline)
            if request.push.atomicity == .edit {
                // The other edits stand, so they run again without this one.
                mode.refuse(difference.edit, for: difference.problem(request.push.edits[difference.edit]))
                return try await run(request, plan, served, deadline, mode: mode)
            }
        }
        return try await refuse(request, attempt, served, deadline)
    }

    /// Reads the schema again, to tell a value that its column cannot hold from a column that was altered.
    /// - Throws: `StoreError` of the kind `schemaChanged`, where the table is not what it was; then the push may succeed
    ///   once the rules are read again.
    private func refuseIfUnchanged(
        _ difference: WriteProof.Difference, _ served: Served, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        let table = difference.table
        let now = try await engine.schema(of: [table], deadline: deadline)
        guard now.tables[table] == served.schema.tables[table] else { throw difference.schemaChange }
    }

    /// Answers a push that was taken back, and keeps it whole.
    private func refuse(
        _ request: PushRequest, _ attempt: PushAttempt, _ served: Served, _ deadline: ContinuousClock.Instant
    ) async throws -> PushAnswer {
        let dialect = engine.dialect
        let work: @Sendable (any StoreSession) throws(StoreError) -> PushAnswer = {
            [limits, form] session throws(StoreError) in
            let records = try RecordCollector(session, dialect, limits).records(of: attempt.reports)
            let result = ResultAssembly(push: request.push, reports: attempt.reports[...], wasRolledBack: true)
                .result(records[...])
            return PushAnswer(request, result, form)
        }
        // A push that is refused when it is sent again is kept already.
        guard !request.isPreview, !request.isResend, let journal = served.journal else {
            return try await engine.read(deadline: deadline, work)
        }
        if journal.aside != nil {
            let answer = try await engine.read(deadline: deadline, work)
            guard let result = answer.result else { return answer }
            return try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
                try Self.keep(request, result, answer, served, in: journal, session)
                return .commit(answer)
            }
        }
        return try await engine.write(deadline: deadline) { session throws(StoreError) in
            let answer = try work(session)
            if let result = answer.result { try Self.keep(request, result, answer, served, in: journal, session) }
            return .commit(answer)
        }
    }

    /// Writes what a push leaves behind into its own transaction.
    private static func keep(
        _ request: PushRequest, _ result: PushResult, _ answer: PushAnswer?, _ served: Served, in journal: Journal,
        _ session: any StoreSession
    ) throws(StoreError) {
        try keep([JournalDraft(request, result, answer, served, journal.codec)], in: journal, session)
    }

    /// Writes what pushes leave behind into the transaction that they share.
    static func keep(
        _ drafts: [JournalDraft], in journal: Journal, _ session: any StoreSession
    ) throws(StoreError) {
        var inserts = journal.tables.insert(drafts)[...]
        try noting { () throws(StoreError) in try session.run({ inserts.popFirst()?.statement }) { _ in } }
    }

    /// The only unique index of the journal is that of the keys.
    static func noting(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            guard case .constraint(let violation) = error.kind, violation.kind == .unique else { throw error }
            throw StoreError(.knownKey, "the push's key is kept already", code: error.code)
        }
    }

    private static func mark(
        _ effects: [SingleEffect], in journal: Journal, _ session: any StoreSession
    ) throws(StoreError) {
        do {
            for statement in journal.tables.mark(effects) { _ = try session.execute(statement) }
        } catch {
            guard case .constraint(let violation) = error.kind, violation.kind == .unique else { throw error }
            throw StoreError(.takenEffect, "it has taken effect before", code: error.code)
        }
    }

    /// Refuses a preview of tables without transactions: a write is there at once, and triggers are never taken back.
    private static func checkPreviewable(_ push: Push) throws(Problem) {
        guard let edit = push.edits.first(where: { !$0.resource.isAtomic }) else { return }
        throw Problem(
            .noPreview,
            detail: "Tables of “\(edit.resource.name)” know no transactions, so nothing written there can be a trial.",
            path: edit.path, retry: false)
    }

    /// Where a table without transactions takes part, all tables of the push are locked, because a session that holds
    /// some may touch no others.
    private static func tablesToLock(_ push: Push, _ served: Served) -> [TableName] {
        guard push.edits.contains(where: { !$0.resource.isAtomic }) else { return [] }
        var tables = Set(push.edits.flatMap { $0.resource.sections.map(\.table) })
        var pending = Array(tables)
        while let table = pending.popLast() {
            for dependent in served.schema.dependents[table] ?? [] where tables.insert(dependent.table).inserted {
                pending.append(dependent.table)
            }
        }
        if let journal = served.journal, journal.aside == nil {
            tables.formUnion([journal.tables.entries, journal.tables.meta])
        }
        return tables.sorted { $0.description < $1.description }
    }

    /// A constraint that the database checks only at COMMIT names no row.
    private static func refusedAtCommit(_ push: Push, _ problem: Problem) -> PushAttempt {
        var reports = push.edits.map(EditReport.init)
        for index in reports.indices { reports[index].problem = problem }
        return PushAttempt(reports: reports)
    }
}

/// Why a request has no result.
package struct Failure: Error, Sendable {
    /// The problem that the client is told of.
    package let problem: Problem
    /// The database's own words, for the log.
    package let cause: StoreError?

    init(problem: Problem, cause: StoreError?) {
        self.problem = problem
        self.cause = cause
    }

    /// A fault of the request, found before it could be merged.
    package init(_ problem: Problem) {
        self.init(problem: problem, cause: nil)
    }

    init(_ error: StoreError) {
        self.init(problem: error.problem, cause: error)
    }

    /// Whatever a push has failed with.
    package init(any error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let problem as Problem: self.init(problem)
        case let error as StoreError: self.init(error)
        default: self.init(StoreError(.other, "a push ended with an unknown error"))
        }
    }
}
