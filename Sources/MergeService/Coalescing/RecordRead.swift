import MergeCore
import RecordStore

/// One record that is to be read.
struct RecordRead: Shareable {
    typealias Answer = Record?

    let resource: Resource
    let key: RecordKey
    let deadline: ContinuousClock.Instant

    /// Reads do not get into each other's way.
    var records: Set<RecordPlace> { [] }

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
            { batch, session throws(StoreError) in .rollback(try read(items(batch), session)) })
    }

    private func read(_ reads: [RecordRead], _ session: any StoreSession) throws(StoreError) -> [Verdict<Record?>] {
        var answers = [Verdict<Record?>](repeating: .answered(nil), count: reads.count)
        var left = Array(reads.indices)
        while let first = left.first {
            let resource = reads[first].resource
            let same = left.filter { reads[$0].resource === resource }
            left.removeAll { reads[$0].resource === resource }
            let reader = RecordReader(
                resource: resource, session: session, dialect: engine.dialect, rowsPerRecord: limits.rowsPerRecord)
            let records = try reader.records(same.map { reads[$0].key }, locking: false)
            for (index, record) in zip(same, records) { answers[index] = .answered(record) }
        }
        return answers
    }
}
