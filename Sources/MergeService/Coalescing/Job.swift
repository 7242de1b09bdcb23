import MergeCore

/// A push that may share a transaction with others: edits of rows that exist, and nothing else.
final class Job: Sendable {
    let request: PushRequest
    let plan: PushPlan
    let served: Served
    let deadline: ContinuousClock.Instant
    /// The records that it edits.
    let records: Set<Place>

    /// Names a record among those of all resources.
    struct Place: Hashable, Sendable {
        let table: TableName
        let key: RecordKey
    }

    /// A push of many edits is a transaction worth of its own.
    private static let maximumEdits = 16

    /// nil for a push that needs a transaction of its own.
    init?(_ request: PushRequest, _ plan: PushPlan, _ served: Served, _ deadline: ContinuousClock.Instant) {
        guard !request.isPreview, request.replays == nil, request.push.atomicity == .push,
            (1...Self.maximumEdits).contains(request.push.edits.count)
        else { return nil }
        var records: Set<Place> = []
        for edit in request.push.edits {
            guard edit.resource.isAtomic, edit.returning.isEmpty, let key = edit.id.key,
                records.insert(Place(table: edit.resource.root.table, key: key)).inserted
            else { return nil }
            for row in edit.rows {
                guard case .edit = row.action, row.id.map({ $0.key != nil && !$0.isSuspect }) ?? true else {
                    return nil
                }
            }
        }
        self.request = request
        self.plan = plan
        self.served = served
        self.deadline = deadline
        self.records = records
    }
}

/// What became of a push in a shared transaction.
enum Verdict: Sendable {
    case answered(PushAnswer)
    /// It has to run in a transaction of its own.
    case alone
}
