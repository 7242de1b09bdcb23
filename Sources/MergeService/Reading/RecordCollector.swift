import MergeCore
import RecordStore

struct RecordCollector {
    private let session: any StoreSession
    private let dialect: any Dialect
    private let limits: MergeLimits

    private let digests: RecordDigests?
    private let sharesReferred: Bool

    /// - Parameter sharesReferred: locks the rows to which the records refer and whose columns they show, so that a
    ///   later write of such a row finds these records.
    init(
        _ session: any StoreSession, dialect: any Dialect, limits: MergeLimits, digests: RecordDigests? = nil,
        sharesReferred: Bool = false
    ) {
        self.sharesReferred = sharesReferred
        self.digests = digests
        self.session = session
        self.dialect = dialect
        self.limits = limits
    }

    func records(of reports: [EditReport]) throws(StoreError) -> [ReadRecord?] { try receive(send(reports)) }

    /// Reads records, parallel to their names; nil for missing records.
    func records(of names: [(resource: Resource, key: RecordKey?)]) throws(StoreError) -> [ReadRecord?] {
        try receive(send(names))
    }

    struct Asked {
        fileprivate let count: Int
        fileprivate var parts: [(reader: RecordReader, places: [Int], asked: RecordReader.Asked)] = []
    }

    /// Sends the queries without waiting.
    func send(_ reports: [EditReport]) -> Asked {
        send(reports.indices.map { (reports[$0].resource, reports[$0].isHidden ? nil : reports[$0].key) })
    }

    private func send(_ names: [(resource: Resource, key: RecordKey?)]) -> Asked {
        var asked = Asked(count: names.count)
        var left = names.indices.filter { names[$0].key != nil }
        while let first = left.first {
            let resource = names[first].resource
            let same = left.filter { names[$0].resource === resource }
            left.removeAll { names[$0].resource === resource }
            var reader = RecordReader(
                resource: resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord,
                digests: digests)
            reader.sharesReferred = sharesReferred
            asked.parts.append((reader, same, reader.send(same.compactMap { names[$0].key }, locking: false)))
        }
        return asked
    }

    /// Receives the requested records; nil for missing records.
    func receive(_ asked: Asked) throws(StoreError) -> [ReadRecord?] {
        var records = [ReadRecord?](repeating: nil, count: asked.count)
        for part in asked.parts {
            for (place, record) in zip(part.places, try part.reader.receive(part.asked)) { records[place] = record }
        }
        return records
    }
}
