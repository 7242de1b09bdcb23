import MergeCore

/// A push that may share a transaction with others: edits of rows that exist, and nothing else.
final class Job: Shareable {
    typealias Answer = PushAnswer

    let request: PushRequest
    let plan: PushPlan
    let served: Served
    let deadline: ContinuousClock.Instant
    /// The records that it edits.
    let records: Set<RecordPlace>

    /// A push of many edits is a transaction worth of its own.
    private static let maximumEdits = 16

    /// nil for a push that needs a transaction of its own.
    init?(_ request: PushRequest, _ plan: PushPlan, _ served: Served, _ deadline: ContinuousClock.Instant) {
        guard !request.isPreview, request.replays == nil, request.push.atomicity == .push,
            (1...Self.maximumEdits).contains(request.push.edits.count)
        else { return nil }
        var records: Set<RecordPlace> = []
        for edit in request.push.edits {
            guard edit.resource.isAtomic, edit.returning.isEmpty, let key = edit.id.key,
                records.insert(RecordPlace(table: edit.resource.root.table, key: key)).inserted
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

    /// One transaction knows one version of the rules.
    func goes(with first: Job) -> Bool { served.catalog.version == first.served.catalog.version }
}
