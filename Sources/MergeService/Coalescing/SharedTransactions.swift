import MergeCore
import RecordStore

/// Runs pushes that share a transaction.
struct SharedTransactions: SharedWork {
    let engine: any RecordEngine
    let limits: MergeLimits
    let digest: GroupDigest
    let form: @Sendable (PushResult, AnswerForm) -> [UInt8]

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
        try await engine.series(
            of: .write, deadline: deadline, next: next,
            done: { batch, result in done(batch, result.flatMapError { Self.verdict($0, items(batch)) }) },
            { batch, session throws(StoreError) in try transaction(items(batch), session) })
    }

    private func transaction(_ jobs: [Job], _ session: any StoreSession) throws(StoreError)
        -> Ending<[Verdict<PushAnswer>]>
    {
        guard let served = jobs.first?.served else { return .rollback([]) }
        do {
            let run = SharedRun(
                PushRun(
                    PushPlan(joining: jobs.map(\.plan)), served, session: session, dialect: engine.dialect,
                    limits: limits, digest: digest, journal: served.journal, mode: WriteMode(), isShared: true), jobs)
            guard let answers = try run.run(form) else { return .rollback(jobs.map { _ in .alone }) }
            return .commit(answers.map { answer in answer.map { .answered($0) } ?? .alone })
        } catch {
            // Running again together would meet the same; alone each waits for its own rows.
            return .rollback(jobs.map { _ in .alone })
        }
    }
}
