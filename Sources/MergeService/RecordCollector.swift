import MergeCore
import RecordStore

/// Reads the records of a push's edits, resource by resource.
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
    func records(of reports: [EditReport]) throws(StoreError) -> [Record?] {
        var records = [Record?](repeating: nil, count: reports.count)
        var left = reports.indices.filter { reports[$0].key != nil }
        // Mostly all edits are of one resource.
        while let first = left.first {
            let resource = reports[first].resource
            let same = left.filter { reports[$0].resource === resource }
            left.removeAll { reports[$0].resource === resource }
            let reader = RecordReader(
                resource: resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord)
            let found = try reader.records(same.compactMap { reports[$0].key }, locking: false)
            for (index, record) in zip(same, found) { records[index] = record }
        }
        return records
    }
}
