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
        var keys: [String: (resource: Resource, keys: [RecordKey])] = [:]
        for report in reports {
            guard let key = report.key else { continue }
            keys[report.resource.name, default: (report.resource, [])].keys.append(key)
        }
        var found: [String: [RecordKey: Record]] = [:]
        for (name, wanted) in keys {
            let reader = RecordReader(
                resource: wanted.resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord)
            var seen: Set<RecordKey> = []
            found[name] = try reader.records(wanted.keys.filter { seen.insert($0).inserted }, locking: false)
        }
        return reports.map { report in report.key.flatMap { found[report.resource.name]?[$0] } }
    }
}
