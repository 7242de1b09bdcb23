import MergeCore
import RecordStore

/// Something that a push may not do in a shared transaction; it runs alone.
struct NotShareable: Error {}

/// One transaction that several pushes share.
struct SharedRun {
    private let run: PushRun
    private let jobs: [Job]
    private let keep: ([JournalDraft]) throws(StoreError) -> Void

    /// - Parameter keep: is handed what the pushes leave behind, once everything is written and read again.
    init(_ run: PushRun, _ jobs: [Job], keep: @escaping ([JournalDraft]) throws(StoreError) -> Void) {
        self.run = run
        self.jobs = jobs
        self.keep = keep
    }

    private struct Made {
        /// nil for a push that has to run alone.
        let answers: [PushAnswer?]
        let drafts: [JournalDraft]
    }

    /// - Returns: the answers, nil for a push that has to run alone; nil where none is left.
    func run(_ form: (PushResult, AnswerForm) -> [UInt8]) throws -> [PushAnswer?]? {
        try run.lockRoots()
        var ranges: [Range<Int>] = []
        var owner: [Int] = []
        for (number, job) in jobs.enumerated() {
            ranges.append(owner.count..<owner.count + job.request.push.edits.count)
            owner += Array(repeating: number, count: job.request.push.edits.count)
        }
        var excluded: Set<Int> = []
        run.owners = owner
        // No push names a row of another, so all can be read before anything is written.
        try run.load(run.plan.steps)
        for step in run.plan.steps where !excluded.contains(owner[step.index]) {
            do {
                try run.apply(step)
                if !run.reports[step.index].isMerged { excluded.insert(owner[step.index]) }
            } catch let error as StoreError {
                throw error
            } catch {
                excluded.insert(owner[step.index])
            }
        }
        guard excluded.count < jobs.count else { return nil }
        if !excluded.isEmpty {
            run.updates.drop { excluded.contains(owner[$0.index]) }
            run.written.drop { excluded.contains(owner[$0.index]) }
            for index in run.reports.indices where excluded.contains(owner[index]) { run.reports[index].meant = [] }
        }
        let made = try run.finish { records in answers(ranges, excluded, records, form) }
        try keep(made.drafts)
        return made.answers
    }

    private func answers(
        _ ranges: [Range<Int>], _ excluded: Set<Int>, _ records: [Record?],
        _ form: (PushResult, AnswerForm) -> [UInt8]
    ) -> Made {
        var answers: [PushAnswer?] = []
        var drafts: [JournalDraft] = []
        for (number, job) in jobs.enumerated() {
            if excluded.contains(number) {
                answers.append(nil)
                continue
            }
            let result = ResultAssembly(
                push: job.request.push, reports: run.reports[ranges[number]], wasRolledBack: false
            ).result(records[ranges[number]])
            let answer = PushAnswer(job.request, result, form)
            answers.append(answer)
            if let journal = job.served.journal {
                drafts.append(JournalDraft(job.request, result, answer, job.served, journal.codec))
            }
        }
        return Made(answers: answers, drafts: drafts)
    }
}
