import MergeCore
import RecordStore

/// One record that is to be read.
struct RecordRead: Shareable {
    typealias Answer = Record?

    let resource: Resource
    let key: RecordKey
    let deadline: ContinuousClock.Instant
    let caller: Caller

    /// Reads do not get into each other's way.
    var rows: Set<RowReference> { [] }

    func goes(with first: RecordRead) -> Bool { true }
}

/// Reads records that several clients wait for in one snapshot, which begins after all of them asked.
struct SharedReads: SharedWork {
    let engine: any RecordEngine
    let limits: MergeLimits

    func run<Batch: Sendable>(
        deadline: ContinuousClock.Instant, next: @escaping @Sendable (_ mayWait: Bool) -> Batch?,
        items: @escaping @Sendable (Batch) -> [RecordRead],
        done: @escaping @Sendable (Batch, Result<[Verdict<Record?>], StoreError>) -> Void
    ) async throws(StoreError) {
        try await engine.series(
            of: .snapshot, deadline: deadline, next: next,
            done: { batch, result in done(batch, result.flatMapError { Self.verdict($0, items(batch)) }) },
            { batch, session throws(StoreError) in
                let names = items(batch).map { (resource: $0.resource, key: Optional($0.key)) }
                let records = try RecordCollector(session, engine.dialect, limits).records(of: names)
                return .rollback(records.map { .answered($0) })
            })
    }
}
