import ChangeFeed
import MergeCore
import MergeService
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
        guard let journal = active.journal, let hashKey = shown.hashKey(of: journal) else { return }
        var names: [(resource: Resource, key: RecordKey)] = []
        var sent: [Record?] = []
        for edit in result.results where !edit.hasChange {
            guard case .key(let key)? = edit.id else { continue }
            names.append((edit.resource, key))
            sent.append(edit.record)
        }
        if names.isEmpty { return }
        do throws(StoreError) {
            let wanted = names
            let compared = sent
            let read = try await service.engine.read(deadline: deadline) { [service] session throws(StoreError) in
                let digests = RecordDigests(key: hashKey)
                let records = try service.records(wanted, in: session, digests: digests)
                return zip(zip(wanted, compared), records).map { asked, now in
                    let ((resource, key), sent) = asked
                    let record = ShownRecord(
                        resource, journal.codec.key(key, resource.root), digests.sections(of: key, in: resource),
                        hashKey)
                    // What has changed meanwhile is as nobody will find it, so it is told again.
                    let isSame = now?.seen(by: access?.viewer, of: resource) == sent
                    return ShownRecords.Read(isSame ? record : record.asNobodyFindsIt)
                }
            }
            guard let state = try await feed.current() else { return }
            try await shown.note(read, at: state.revision, in: journal, until: deadline)
        } catch {
            return
        }
    }
}

extension EditResult {
    /// The feed tells of it.
    fileprivate var hasChange: Bool { status == .merged && outcomes.contains(where: \.kind.hasEffect) }
}
