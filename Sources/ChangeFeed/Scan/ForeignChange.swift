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
    var changesConditions: Bool { Set(tags).count > 1 || shown != nil }

    /// Returns true if a later revision reports this change to every client that has not seen it.
    func isTold(by history: ConditionHistory?) -> Bool {
        if let shown {
            // Without a history of conditions, the change is reported to every client.
            return history?.tuples(since: toldSince)?.contains(shown.bytes) ?? true
        }
        return !changesConditions || history?.covers(tags.map(\.bytes), since: toldSince) == true
    }

    /// Returns the condition values since then, current ones last.
    func values(behind history: ConditionHistory?) -> [ConditionTag] {
        shown.map { [$0] + (history?.latest.map { [ConditionTag($0)] } ?? []) } ?? tags
    }
}
