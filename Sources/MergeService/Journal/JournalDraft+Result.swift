import MergeCore
import RecordStore

extension JournalDraft {
    /// Creates the draft for a push's result.
    ///
    /// An edit whose groups were all `unchanged` or `already` has no entry, nor has an undo that changed nothing. If the push is kept as refused, each record
    /// that it names has an entry.
    ///
    /// - Parameters:
    ///   - elsewhere: the records that an edit changed besides its own.
    ///   - step: the change of an edit's own record for access conditions.
    /// - Throws: `StoreError` if the private values cannot be removed from the answer.
    init(
        _ request: PushRequest, result: PushResult, answer: PushAnswer?, active: ActiveRules, codec: JournalCodec,
        elsewhere: (Int) -> [OtherRecord] = { _ in [] }, step: (Int) -> ConditionStep? = { _ in nil }
    ) throws(StoreError) {
        var kept: KeptAnswer?
        // A resend of a partial push reads the stored answer, to leave out the merged edits.
        if let answer, request.keeps(result), request.key != nil || result.status == .partial {
            guard let body = codec.answer(answer.body, active.catalog) else {
                throw StoreError(
                    .other,
                    "the answer contains private values and is too deep to be read, so it cannot be kept without them")
            }
            let whole = KeptAnswer(
                request: request.key?.request, status: answer.status, failure: answer.failure, body: body,
                access: request.access?.digest)
            kept = KeptAnswer(
                request: whole.request, status: whole.status, failure: whole.failure, body: whole.storedBody)
        }
        var refused: RefusedBody?
        // A merged edit has a problem if its record cannot be read. It must not run again.
        if let culprit = result.results.first(where: { edit in
            edit.status != .merged && edit.problem.map { $0.code != .rolledBack } ?? false
        }),
            result.status != .failed || result.problem?.retry == .never
        {
            refused = RefusedBody(
                address: request.sent.address,
                body: codec.refused(request.sent.body, request.sent.address, active.catalog),
                reason: (result.problem ?? culprit.problem)?.code.rawValue ?? "refused")
        }
        let repeated = refused == nil ? [] : result.results.repeatedRefusals
        let isIdle = request.isUndo && refused == nil && !result.hasEffect
        let entries = result.results.enumerated().compactMap { index, edit in
            isIdle || repeated.contains(index)
                ? nil
                : Self.entry(
                    edit, step: step(index), elsewhere: elsewhere(index), active: active, codec: codec,
                    request: request.sent.id, isRefused: refused != nil)
        }
        self.init(
            sender: request.sender, key: request.key?.text, name: kept == nil ? nil : request.key?.name, answer: kept,
            refused: refused, entries: entries,
            bareEntry: entries.isEmpty && refused != nil ? request.sent.id.map(codec.bareEntry) : nil)
    }

    private static func entry(
        _ edit: EditResult, step: ConditionStep?, elsewhere: [OtherRecord], active: ActiveRules, codec: JournalCodec,
        request: String?, isRefused: Bool
    ) -> JournalEntry? {
        guard case .key(let key)? = edit.id, isRefused || edit.status == .merged || edit.status == .rejected else {
            return nil
        }
        // Each kind appears once; usually there is one.
        var outcomes = ","
        for (index, outcome) in edit.outcomes.enumerated() where outcome.kind.isTold {
            if edit.outcomes[..<index].contains(where: { $0.kind == outcome.kind }) { continue }
            outcomes += outcome.kind.rawValue
            outcomes += ","
        }
        guard outcomes != "," || edit.status == .failed else { return nil }
        let own = RecordName(resource: edit.resource.name, record: codec.key(key, edit.resource.root))
        var changed: [RecordName] = []
        var steps: [RecordName: ConditionStep] = [:]
        if edit.status == .merged, edit.outcomes.contains(where: \.kind.hasEffect) {
            let others = elsewhere.map {
                RecordName(resource: $0.resource.name, record: codec.key($0.key, $0.resource.root))
            }
            changed = [own] + others.filter { $0 != own }
            for (name, other) in zip(others, elsewhere) { steps[name] = other.step }
            if let step { steps[own] = step }
        }
        return JournalEntry(
            resource: own.resource, record: own.record, status: edit.status.rawValue,
            outcomes: outcomes, rules: active.catalog.version,
            body: codec.entry(edit, active.catalog, request), changed: changed, steps: steps)
    }
}

extension [EditResult] {
    /// The positions of failed edits without outcomes, of records for which another edit has an entry.
    ///
    /// The entry belongs to the first edit of the record that has its own reason, else to the first edit.
    fileprivate var repeatedRefusals: Set<Int> {
        let bare = indices.filter { self[$0].isBareRefusal }
        var told = Set(filter { !$0.isBareRefusal }.map(EditedRecord.init))
        let ordered =
            bare.filter { self[$0].problem?.code != .rolledBack }
            + bare.filter { self[$0].problem?.code == .rolledBack }
        return Set(ordered.filter { !told.insert(EditedRecord(self[$0])).inserted })
    }
}

private struct EditedRecord: Hashable {
    let resource: String
    let id: RowLabel?

    init(_ edit: EditResult) {
        resource = edit.resource.name
        id = edit.id
    }
}

extension EditResult {
    /// True for a failed edit without outcomes that its entry would contain.
    fileprivate var isBareRefusal: Bool { status == .failed && !outcomes.contains(where: \.kind.isTold) }
}

extension OutcomeKind {
    fileprivate var isTold: Bool { self != .already && self != .unchanged }
}
