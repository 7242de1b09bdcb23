import MergeCore
import RecordStore
import Synchronization

/// Runs pushes that share a transaction.
struct SharedTransactions: SharedWork {
    let engine: any RecordEngine
    let limits: MergeLimits
    let digest: GroupDigest
    let form: @Sendable (PushResult, AnswerForm) -> [UInt8]
    let marks: AsideMarks

    /// Runs transactions for as long as there is a next.
    ///
    /// Whatever one of the pushes would have to be refused for takes only that push out; where the database refuses a
    /// statement, all run alone, so that each is answered as if it had been from the start.
    /// - Throws: `StoreError` where the database gives no connection; then no push was taken.
    func run<Batch: Sendable>(
        deadline: ContinuousClock.Instant, next: @escaping @Sendable (_ mayWait: Bool) -> Batch?,
        items: @escaping @Sendable (Batch) -> [Job],
        done: @escaping @Sendable (Batch, Result<[Verdict<PushAnswer>], StoreError>) -> Void
    ) async throws(StoreError) {
        let announced = Mutex<Set<String>>([])
        let held = Mutex<[(Batch, Result<[Verdict<PushAnswer>], StoreError>)]>([])
        try await engine.series(
            of: .write, deadline: deadline,
            next: { mayWait in held.withLock { $0.isEmpty } ? next(mayWait).map { Named(batch: $0) } : nil },
            done: { work, result in
                let jobs = items(work.batch)
                let verdicts = result.flatMapError { Self.verdict($0, jobs) }
                let hasDrafts = announced.withLock { $0.remove(work.token) != nil }
                // What nobody knows the outcome of keeps its mark.
                if hasDrafts, let isCommitted = Self.isCommitted(result), let journal = jobs.first?.served.journal,
                    let aside = AsideJournal(journal)
                {
                    marks.end(AsideMarks.Mark(aside: aside, token: work.token, isCommitted: isCommitted))
                    if !isCommitted {
                        // Nobody may find the drafts of what was taken back, least of all the same push on its own.
                        held.withLock { $0.append((work.batch, verdicts)) }
                        return
                    }
                }
                done(work.batch, verdicts)
            },
            { work, session throws(StoreError) in
                try transaction(items(work.batch), session) { drafts, aside throws(StoreError) in
                    try marks.announce(drafts, token: work.token, in: aside)
                    announced.withLock { _ = $0.insert(work.token) }
                }
            })
        await marks.clear()
        for (batch, verdicts) in held.withLock({ $0 }) { done(batch, verdicts) }
    }

    /// A batch with a name that stays where its transaction runs again.
    private struct Named<Batch: Sendable>: Sendable {
        let batch: Batch
        let token = AsideJournal.newToken()
    }

    /// nil where nobody knows.
    private static func isCommitted(_ result: Result<[Verdict<PushAnswer>], StoreError>) -> Bool? {
        switch result {
        case .success(let verdicts):
            verdicts.contains { verdict in
                if case .answered = verdict { true } else { false }
            }
        case .failure(let error): error.kind == .unknownOutcome ? nil : false
        }
    }

    private func transaction(
        _ jobs: [Job], _ session: any StoreSession,
        _ announce: @escaping ([JournalDraft], AsideJournal) throws(StoreError) -> Void
    ) throws(StoreError) -> Ending<[Verdict<PushAnswer>]> {
        guard let served = jobs.first?.served else { return .rollback([]) }
        do {
            let run = SharedRun(
                PushRun(
                    PushPlan(joining: jobs.map(\.plan)), served, session: session, dialect: engine.dialect,
                    limits: limits, digest: digest, journal: served.journal, mode: WriteMode(), isShared: true), jobs
            ) { drafts throws(StoreError) in
                guard let journal = served.journal else { return }
                if let aside = AsideJournal(journal) {
                    try announce(drafts, aside)
                } else {
                    try MergeService.keep(drafts, in: journal, session)
                }
            }
            guard let answers = try run.run(form) else { return .rollback(jobs.map { _ in .alone }) }
            return .commit(answers.map { answer in answer.map { .answered($0) } ?? .alone })
        } catch {
            // Running again together would meet the same; alone each waits for its own rows.
            return .rollback(jobs.map { _ in .alone })
        }
    }
}
