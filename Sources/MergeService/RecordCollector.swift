import MergeCore
import RecordStore

/// Reads records of several resources, resource by resource.
struct RecordCollector {
    private let session: any StoreSession
    private let dialect: Dialect
    private let limits: MergeLimits

    init(_ session: any StoreSession, _ dialect: Dialect, _ limits: MergeLimits) {
        self.session = session
        self.dialect = dialect
        self.limits = limits
    }

    /// The records, parallel to the reports; nil where there is none.
    ///
    /// - Parameter writes: what is written before anything is read.
    func records(of reports: [EditReport], after writes: [Statement] = []) throws(StoreError) -> [Record?] {
        try records(of: reports.indices.map { (reports[$0].resource, reports[$0].key) }, after: writes)
    }

    /// The records, parallel to their names; nil where there is none.
    func records(
        of names: [(resource: Resource, key: RecordKey?)], after writes: [Statement] = []
    ) throws(StoreError) -> [Record?] {
        var writes = writes[...]
        var records = [Record?](repeating: nil, count: names.count)
        var left = names.indices.filter { names[$0].key != nil }
        // Mostly all are of one resource.
        while let first = left.first {
            let resource = names[first].resource
            let same = left.filter { names[$0].resource === resource }
            left.removeAll { names[$0].resource === resource }
            let reader = RecordReader(
                resource: resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord)
            let found = try reader.records(
                same.compactMap { names[$0].key }, locking: false, after: Array(writes))
            writes = []
            for (index, record) in zip(same, found) { records[index] = record }
        }
        try session.run({ writes.popFirst() }) { _ in }
        return records
    }
}
