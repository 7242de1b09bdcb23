import MergeCore
import RecordStore

/// A push of which nothing stands: it is answered with the records as they are, and kept whole.
struct RefusedPush: Sendable {
    private let push: PushItem
    private let reports: [EditReport]

    init(_ push: PushItem, _ reports: [EditReport]) {
        self.push = push
        self.reports = reports
    }

    private var request: PushRequest { push.request }

    func answer(_ merging: PushMerging) async throws(StoreError) -> PushAnswer {
        let read = { @Sendable (session: any StoreSession) throws(StoreError) in try answer(merging, in: session) }
        // A push that is refused when it is sent again is kept already.
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

    private func answer(_ merging: PushMerging, in session: any StoreSession) throws(StoreError) -> PushAnswer {
        let records = try RecordCollector(session, dialect: merging.engine.dialect, limits: merging.limits)
            .records(of: reports)
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
        try answer.checkLength(merging.limits)
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
