import MergeService
import RecordStore

/// A record that differs from the version that clients have.
struct ForeignChange: Sendable {
    let name: RecordName
    /// If the record has a later revision than this, that revision reports the change.
    let toldSince: Int
    /// The condition values of the rows, former ones first.
    var tags: [ConditionTag] = []
    /// Delivered condition values, which row digests may never have contained; nil without conditions.
    var shown: ConditionTag?

    /// True if the source found that the root's row was deleted; nil if it compared another row.
    var isGone: Bool?

    /// True if the result of access conditions may change.
    var changesConditions: Bool { losesConditions || Set(tags).count > 1 || shown != nil }

    /// True if the row and its former condition values are gone.
    private var losesConditions: Bool { isGone == true && !tags.isEmpty }

    /// Returns true if a later revision reports this change to every client that has not seen it.
    func isTold(by history: ConditionHistory?) -> Bool {
        if let shown {
            // Without a history of conditions, the change is reported to every client.
            return history?.tuples(since: toldSince)?.contains(shown.bytes) ?? true
        }
        if losesConditions {
            // Other programs may have changed the values before the later revision began the history.
            let reported = history?.tuples(since: toldSince)
            return reported.map { reported in tags.allSatisfy { reported.contains($0.bytes) } } ?? true
        }
        return !changesConditions || history?.covers(tags.map(\.bytes), since: toldSince) == true
    }

    /// Returns the condition values since then, current ones last.
    ///
    /// - Parameters:
    ///   - history: of the record; nil if it is not known.
    ///   - hasLaterRevision: true if the history is later than this change.
    func values(behind history: ConditionHistory?, hasLaterRevision: Bool) -> [ConditionTag] {
        let latest = history?.latest.map { ConditionTag($0) }
        if let shown { return [shown] + (latest.map { [$0] } ?? []) }
        // A later push may have created the record again.
        if losesConditions { return tags + [hasLaterRevision ? latest ?? .none : .none] }
        return tags
    }
}
