import ChangeFeed
import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Stores delivery records for records in push results that the feed does not report.
///
/// The feed reports each changed record. An unchanged record, such as that of a rejected edit, is read again to compute
/// its row digests.
struct ResultDelivery: Sendable {
    let service: MergeService
    let feed: ChangeFeed
    let shown: ShownRecords

    /// Stores delivery records for a result.
    ///
    /// An error is ignored, because the push is already decided.
    ///
    /// - Parameter access: the client's rights; nil for all rights.
    func note(
        _ result: PushResult, under active: ActiveRules, for access: ClientAccess?, _ deadline: ContinuousClock.Instant
    ) async {
        let edits = result.results.filter { !$0.hasChange }.compactMap { edit in
            edit.key.map { (resource: edit.resource, key: $0, record: edit.record, problem: edit.unreadable) }
        }
        await note(edits.map { ($0.resource, $0.key) }, under: active, deadline) { index, now in
            let seen = now?.seen(by: access?.viewer, of: edits[index].resource)
            return seen?.readable == edits[index].record && seen?.problem?.code == edits[index].problem
        }
    }

    /// Stores delivery records for a stored answer, whose client may already have later changes.
    ///
    /// - Parameter body: the answer before it is sent.
    func note(
        answerAgain body: [UInt8], under active: ActiveRules, for access: ClientAccess?,
        _ deadline: ContinuousClock.Instant
    ) async {
        guard shown.hashKey(of: active.journal) != nil else { return }
        let sent = ShownResults.records(in: body, of: active.catalog)
        await note(sent.map { ($0.resource, $0.key) }, under: active, deadline) { index, now in
            let resource = sent[index].resource
            let text = now?.seen(by: access?.viewer, of: resource)?.readable.flatMap {
                ShownResults.text(of: RecordEncoder.encode($0, resource))
            }
            return text == sent[index].text
        }
    }

    /// - Parameter isSame: returns true if the current record at an index equals the sent record.
    private func note(
        _ names: [(resource: Resource, key: RecordKey)], under active: ActiveRules,
        _ deadline: ContinuousClock.Instant, isSame: @escaping @Sendable (Int, ReadRecord?) -> Bool
    ) async {
        guard !names.isEmpty, let journal = active.journal, let hashKey = shown.hashKey(of: journal) else { return }
        do throws(StoreError) {
            let read = try await service.reading(names, deadline: deadline) { [service] session throws(StoreError) in
                let digests = RecordDigests(key: hashKey)
                let records = try service.records(names, in: session, digests: digests)
                return zip(names.indices, records).map { index, now in
                    let (resource, key) = names[index]
                    let record = ShownRecord(
                        journal.codec.key(key, resource.root), of: resource,
                        digests: digests.sections(of: key, in: resource))
                    // If the record has changed since, stores a digest that never matches, so that the scan reports it.
                    return ShownRecords.Read(isSame(index, now) ? record : record.asNobodyFindsIt)
                }
            }
            guard let state = try await feed.current() else { return }
            try await shown.note(read, at: state.revision, in: journal, until: deadline)
        } catch {
            return
        }
    }
}

extension PushResult {
    /// True if the result contains a record that the feed does not report.
    var showsUnchanged: Bool { results.contains { !$0.hasChange } }
}

extension EditResult {
    fileprivate var key: RecordKey? {
        if case .key(let key)? = id { key } else { nil }
    }

    /// The problem code of an unreadable record.
    fileprivate var unreadable: ProblemCode? { problem?.code == .unreadableRecord ? problem?.code : nil }

    /// True if the feed reports this edit.
    fileprivate var hasChange: Bool { status == .merged && outcomes.contains(where: \.kind.hasEffect) }
}
