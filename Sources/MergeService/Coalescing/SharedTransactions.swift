import MergeCore
import RecordStore

/// Runs pushes that share a transaction.
struct SharedTransactions: Sendable {
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
        jobs: @escaping @Sendable (Batch) -> [Job],
        done: @escaping @Sendable (Batch, Result<[Verdict], StoreError>) -> Void
    ) async throws(StoreError) {
        try await engine.writeSeries(
            deadline: deadline, next: next,
            done: { batch, result in done(batch, result.flatMapError { Self.verdict($0, jobs(batch)) }) },
            { batch, session throws(StoreError) in try transaction(jobs(batch), session) })
    }

    /// What was not committed for sure may run again.
    static func verdict(_ error: StoreError, _ jobs: [Job]) -> Result<[Verdict], StoreError> {
        error.kind == .unknownOutcome ? .failure(error) : .success(jobs.map { _ in .alone })
    }

    private func transaction(_ jobs: [Job], _ session: any StoreSession) throws(StoreError) -> Ending<[Verdict]> {
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
