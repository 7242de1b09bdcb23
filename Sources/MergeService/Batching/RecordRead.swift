import MergeCore
import RecordStore

struct RecordRead: BatchItem {
    let resource: Resource
    let key: RecordKey
    let viewer: Viewer?
    let deadline: ContinuousClock.Instant
    let caller: Caller

    var isUnwanted: Bool { caller.hasLeft }

    /// Reads never conflict.
    var rows: Set<RowName> { [] }

    func goes(with first: RecordRead) -> Bool { true }
}

/// An item's answer, or `alone` if it needs its own transaction.
enum Shared<Answer: Sendable>: Sendable {
    case answered(Answer)
    case alone
}

/// Reads records for several clients in one snapshot, which begins after all their requests.
struct RecordReads: BatchWork {
    let engine: any RecordEngine
    let limits: MergeLimits
    let lengths: RecordLengths
    let unreadable: UnreadableRecords

    var purpose: TransactionKind { .snapshot }

    func run(_ items: [RecordRead], on connection: any StoreConnection) throws(StoreError) -> [Shared<ReadRecord?>] {
        connection.wait(as: .shared(by: items.map { Patience(until: $0.deadline) }))
        let names = items.map { (resource: $0.resource, key: Optional($0.key)) }
        let records = try connection.read { session throws(StoreError) in
            try RecordCollector(session, dialect: engine.dialect, limits: limits).records(of: names)
        }
        for (item, record) in zip(items, records) {
            lengths.note(record?.readable.map { [$0] } ?? [], of: item.resource)
            unreadable.note(record, key: item.key, of: item.resource)
        }
        return zip(items, records).map { .answered($1?.seen(by: $0.viewer, of: $0.resource)) }
    }

    /// Each item runs again alone.
    func answers(to items: [RecordRead], after error: StoreError) -> [Shared<ReadRecord?>] {
        items.map { _ in .alone }
    }

    func laneHasClosed() async {}
}
