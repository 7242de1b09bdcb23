import MergeCore
import RecordStore

/// Some of the pushes that share a transaction.
///
/// What one step asks the database for, the next one takes; in between the other parts have theirs.
final class SharedPart {
    private let run: PushRun
    private let jobs: [Job]
    /// The edits of each push, by their places among those of all.
    private let ranges: [Range<Int>]
    /// Which push each edit is of.
    private let owner: [Int]
    /// Pushes that have to run alone.
    private var excluded: Set<Int> = []
    private var locking: [PushRun.Locking] = []
    private var finishing: PushRun.Finishing?

    init(_ run: PushRun, _ jobs: [Job]) {
        self.run = run
        self.jobs = jobs
        var ranges: [Range<Int>] = []
        var owner: [Int] = []
        for (number, job) in jobs.enumerated() {
            ranges.append(owner.count..<owner.count + job.request.push.edits.count)
            for _ in job.request.push.edits { owner.append(number) }
        }
        self.ranges = ranges
        self.owner = owner
    }

    /// Whether a push is left that need not run alone.
    var hasWrites: Bool { finishing != nil }

    func beginToLock() { locking = run.beginToLock() }

    /// Decides all edits, and sends what is to be written.
    func decide() throws {
        try run.lock(locking)
        for wave in run.waves() {
            let context = try run.load(wave)
            for step in wave where !excluded.contains(owner[step.index]) {
                do {
                    try run.apply(step, context)
                    if run.reports[step.index].isRejected { excluded.insert(owner[step.index]) }
                } catch let error as StoreError {
                    throw error
                } catch {
                    excluded.insert(owner[step.index])
                }
            }
        }
        guard excluded.count < jobs.count else { return }
        if !excluded.isEmpty {
            run.updates.drop { excluded.contains(owner[$0.index]) }
            for index in run.reports.indices where excluded.contains(owner[index]) { run.reports[index].meant = [] }
        }
        finishing = try run.beginToFinish()
    }

    /// - Returns: an answer for each push; nil for one that has to run alone.
    func answer(
        _ form: (PushResult, AnswerForm) -> [UInt8], _ keeper: DraftKeeper
    ) throws -> [PushAnswer?] {
        guard let finishing else { return jobs.map { _ in nil } }
        let records = try run.finish(finishing)
        try run.prove(records)
        var answers: [PushAnswer?] = []
        var drafts: [JournalDraft] = []
        answers.reserveCapacity(jobs.count)
        drafts.reserveCapacity(jobs.count)
        for (number, job) in jobs.enumerated() {
            if excluded.contains(number) {
                answers.append(nil)
                continue
            }
            let result = ResultAssembly(
                push: job.request.push, reports: run.reports[ranges[number]], wasRolledBack: false
            ).result(records[ranges[number]])
            let answer = PushAnswer(code: result.code, body: form(result, job.request.form), result: result)
            answers.append(answer)
            if let journal = job.served.journal {
                drafts.append(JournalDraft(job.request, result, answer, job.served, journal.codec))
            }
        }
        keeper.take(drafts)
        return answers
    }
}
