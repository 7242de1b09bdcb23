import MergeCore
import RecordStore

/// A push that was rolled back; its answer contains the current records.
struct RefusedPush: Sendable {
    private let push: PushItem
    private let reports: [EditReport]

    init(_ push: PushItem, _ reports: [EditReport]) {
        self.push = push
        self.reports = reports
    }

    private var request: PushRequest { push.request }

    init(_ push: PushItem, for problem: Problem) {
        self.init(push, push.plan.push.edits.map { EditReport($0, problem: problem) })
    }

    /// Answers the push and stores it; if the records can never be read or stored, the answer contains none.
    ///
    /// - Throws: `StoreError`, always of a kind after which the client sends the push again, because it was not stored.
    func answer(_ merging: PushMerging) async throws(StoreError) -> PushAnswer {
        do throws(StoreError) {
            return try await answer(merging, showingRecords: true)
        } catch {
            if error.problem.retry?.isPassing == true { throw error }
        }
        do throws(StoreError) {
            return try await answer(merging, showingRecords: false)
        } catch {
            if error.problem.retry?.isPassing == true { throw error }
            throw StoreError(.unwritable, "a refused push could not be kept: \(error.message)", code: error.code)
        }
    }

    private func answer(_ merging: PushMerging, showingRecords: Bool) async throws(StoreError) -> PushAnswer {
        let read = { @Sendable (session: any StoreSession) throws(StoreError) in
            try answer(merging, showingRecords: showingRecords, in: session)
        }
        // A refused push that is sent again is already stored.
        guard !request.isPreview, !request.isResend, let journal = push.active.journal else {
            return try await merging.engine.read(deadline: push.deadline, read)
        }
        guard journal.ahead == nil else {
            let answer = try await merging.engine.read(deadline: push.deadline, read)
            return try await journal.engine.write(deadline: push.deadline) { session throws(StoreError) in
                .commit(try keep(answer, in: journal, session))
            }
        }
        return try await merging.engine.write(deadline: push.deadline) { session throws(StoreError) in
            .commit(try keep(try read(session), in: journal, session))
        }
    }

    private func answer(
        _ merging: PushMerging, showingRecords: Bool, in session: any StoreSession
    ) throws(StoreError) -> PushAnswer {
        let records =
            try showingRecords
            ? RecordCollector(session, dialect: merging.engine.dialect, limits: merging.limits).records(of: reports)
            : reports.map { _ in nil }
        let viewer = request.access?.viewer
        let shown = zip(reports, records).map { $1?.seen(by: viewer, of: $0.resource) }
        var result = ResultAssembly(push: request.push, reports: reports[...], wasRolledBack: true)
            .result(shown[...])
        if request.tellsAuthors {
            result = try AuthorSearch(journal: push.active.journal, active: push.active, session: session).told(result)
        }
        let told = viewer.map { result.seen(by: $0, in: push.active, as: reports[...]) } ?? result
        let answer = PushAnswer(to: request, result: result, told: told) { merging.form($0, $1) { !push.isOverdue } }
        guard !push.isOverdue else { throw PushMerging.late }
        // Without records the answer is no longer than the push, so it can always be stored.
        if showingRecords { try answer.checkLength(merging.limits) }
        return answer
    }

    private func keep(
        _ answer: PushAnswer, in journal: Journal, _ session: any StoreSession
    ) throws(StoreError) -> PushAnswer {
        guard let result = answer.result else { return answer }
        let draft = try JournalDraft(
            request, result: result, answer: answer, active: push.active, codec: journal.codec)
        try JournalWriter.keepRefused(draft, in: journal.tables, session)
        return answer
    }
}
