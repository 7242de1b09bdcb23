import MergeCore
import RecordStore

/// Reads records of several resources, resource by resource.
struct RecordCollector {
    private let session: any StoreSession
    private let dialect: any Dialect
    private let limits: MergeLimits

    private let digests: RecordDigests?

    /// - Parameter digests: takes the digests of the rows; nil where nobody wants them.
    init(
        _ session: any StoreSession, dialect: any Dialect, limits: MergeLimits, digests: RecordDigests? = nil
    ) {
        self.digests = digests
        self.session = session
        self.dialect = dialect
        self.limits = limits
    }

    /// The records, parallel to the reports; nil where there is none.
    func records(of reports: [EditReport]) throws(StoreError) -> [ReadRecord?] { try receive(send(reports)) }

    /// The records, parallel to their names; nil where there is none.
    func records(of names: [(resource: Resource, key: RecordKey?)]) throws(StoreError) -> [ReadRecord?] {
        try receive(send(names))
    }

    /// Records that were asked for.
    struct Asked {
        fileprivate let count: Int
        fileprivate var parts: [(reader: RecordReader, places: [Int], asked: RecordReader.Asked)] = []
    }

    /// Asks for the records of reports without waiting for them.
    func send(_ reports: [EditReport]) -> Asked {
        send(reports.indices.map { (reports[$0].resource, reports[$0].isHidden ? nil : reports[$0].key) })
    }

    private func send(_ names: [(resource: Resource, key: RecordKey?)]) -> Asked {
        var asked = Asked(count: names.count)
        var left = names.indices.filter { names[$0].key != nil }
        // Mostly all are of one resource.
        while let first = left.first {
            let resource = names[first].resource
            let same = left.filter { names[$0].resource === resource }
            left.removeAll { names[$0].resource === resource }
            let reader = RecordReader(
                resource: resource, session: session, dialect: dialect, rowsPerRecord: limits.rowsPerRecord,
                digests: digests)
            asked.parts.append((reader, same, reader.send(same.compactMap { names[$0].key }, locking: false)))
        }
        return asked
    }

    /// The records that were asked for; nil where there is none.
    func receive(_ asked: Asked) throws(StoreError) -> [ReadRecord?] {
        var records = [ReadRecord?](repeating: nil, count: asked.count)
        for part in asked.parts {
            for (place, record) in zip(part.places, try part.reader.receive(part.asked)) { records[place] = record }
        }
        return records
    }
}
