import ChangeFeed
import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Notes the records that the results of pushes show, where no change of their own tells them once more.
///
/// A record that a push has changed comes to its client again with the changes, after this answer. One that it has not,
/// such as that of a rejected edit, is read once more, since only then its rows' digests are known.
struct ResultDelivery: Sendable {
    let service: MergeService
    let feed: ChangeFeed
    let shown: ShownRecords

    /// Notes the records of a result; where that fails the answer stands all the same, since the push has been decided.
    ///
    /// - Parameter access: the rights of the client, who was sent what it may see; nil for one who sees everything.
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

    /// Notes the records of an answer that is told again, which shows them as they were then: whoever takes it may have
    /// been told of later changes before.
    ///
    /// - Parameter body: the answer as it is about to be sent.
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

    /// - Parameter isSame: tells, of a record by its position, whether it is now as it is sent.
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
                        resource, journal.codec.key(key, resource.root), digests.sections(of: key, in: resource))
                    // What has changed meanwhile is as nobody will find it, so it is told again.
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
    /// It shows a record that the feed does not tell of.
    var showsUnchanged: Bool { results.contains { !$0.hasChange } }
}

extension EditResult {
    fileprivate var key: RecordKey? {
        if case .key(let key)? = id { key } else { nil }
    }

    /// The code of its problem if its record cannot be read.
    fileprivate var unreadable: ProblemCode? { problem?.code == .unreadableRecord ? problem?.code : nil }

    /// The feed tells of it.
    fileprivate var hasChange: Bool { status == .merged && outcomes.contains(where: \.kind.hasEffect) }
}
