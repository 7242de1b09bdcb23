import MergeCore
import RecordStore

/// Reads whole records inside a transaction: one statement for each table and batch of records.
struct RecordReader {
    let resource: Resource
    let session: any StoreSession
    let dialect: Dialect
    let rowsPerRecord: Int
    /// Locking reads wait for rows that another transaction holds.
    var waits = true

    private var locks: Bool { session.mustLockReads }

    /// The records of some keys, parallel to them; nil for those that are gone, or are spelled otherwise in the database.
    func records(_ keys: [RecordKey], locking: Bool) throws(StoreError) -> [Record?] {
        try receive(send(keys, locking: locking))
    }

    /// Records that were asked for.
    struct Asked {
        fileprivate let keys: [RecordKey]
        /// Every key once, with its position.
        fileprivate let places: [RecordKey: Int]
        fileprivate let roots: [Ticket]
        fileprivate let locking: Bool
    }

    /// Asks for records without waiting for them.
    func send(_ keys: [RecordKey], locking: Bool) -> Asked {
        var places: [RecordKey: Int] = Dictionary(minimumCapacity: keys.count)
        var wanted: [[Value]] = []
        wanted.reserveCapacity(keys.count)
        for key in keys where places.updateIfMissing(wanted.count, for: key) { wanted.append(key.parts) }
        let columns = Array(0..<resource.root.keyCount)
        let roots = stride(from: 0, to: wanted.count, by: SectionSQL.maximumBatch).map { start in
            let batch = Array(wanted[start..<min(start + SectionSQL.maximumBatch, wanted.count)])
            return session.send(
                SectionSQL.of(resource.root, dialect).select(
                    where: columns, in: batch, locking: locking || locks, isOrdered: true, waits: waits))
        }
        return Asked(keys: keys, places: places, roots: roots, locking: locking)
    }

    /// The records that were asked for, parallel to their keys.
    func receive(_ asked: Asked) throws(StoreError) -> [Record?] {
        let places = asked.places
        var positions = [Int?](repeating: nil, count: places.count)
        var records: [Record] = []
        records.reserveCapacity(places.count)
        var roots: [[Value]] = []
        for ticket in asked.roots {
            for row in try session.receive(ticket) {
                let key = resource.root.key(of: row)
                guard let place = places[key] else { continue }
                positions[place] = records.count
                records.append(Record(key: key, sections: [.one(row)]))
                roots.append(row)
            }
        }
        try complete(&records, roots, locking: asked.locking)
        if places.count == asked.keys.count { return positions.map { $0.map { records[$0] } } }
        return asked.keys.map { key in places[key].flatMap { positions[$0] }.map { records[$0] } }
    }

    /// A page of records in key order.
    func page(after key: RecordKey?, limit: Int) throws(StoreError) -> [Record] {
        let root = resource.root
        let rows = try session.query(SectionSQL.of(root, dialect).page(after: key, limit: limit))
        var records = rows.map { Record(key: root.key(of: $0), sections: [.one($0)]) }
        try complete(&records, rows, locking: false)
        return records
    }

    /// Records of a table without a key, which are one row each.
    func page(offset: Int, limit: Int) throws(StoreError) -> [Record] {
        try session.query(SectionSQL.of(resource.root, dialect).page(offset: offset, limit: limit)).map { row in
            Record(key: RecordKey([]), sections: [.one(row)])
        }
    }

    /// Adds the other sections to records that have their root rows alone.
    private func complete(_ records: inout [Record], _ roots: [[Value]], locking: Bool) throws(StoreError) {
        if roots.isEmpty { return }
        for section in resource.sections.dropFirst() {
            let children = try children(of: roots, in: section, locking: locking)
            for (index, root) in roots.enumerated() {
                let found = children[section.link(to: root)] ?? []
                switch section.kind {
                case .list:
                    guard found.count <= rowsPerRecord else { throw tooLarge(section) }
                    records[index].sections.append(.many(found))
                case .root, .singleton:
                    guard found.count <= 1 else {
                        throw StoreError(
                            .unreadable,
                            "table “\(section.table)” holds more than one row of a record; the rules call section "
                                + "“\(section.name)” a singleton, make it a list")
                    }
                    records[index].sections.append(.one(found.first))
                }
            }
        }
    }

    /// The rows of one section, by what they are linked by.
    private func children(
        of roots: [[Value]], in section: Section, locking: Bool
    ) throws(StoreError) -> [[Value]: [[Value]]] {
        var found: [[Value]: [[Value]]] = [:]
        if section.isLinkedByText {
            // Only the database knows which spellings its collation equates, so each record asks for its own rows.
            for root in roots { found[section.link(to: root)] = try rows(of: section, in: root, locking: locking) }
            return found
        }
        let links = Set(roots.map { section.link(to: $0) }).filter { !$0.contains(.null) }
        let columns = section.parent.map(\.column)
        for child in try rows(of: section, where: columns, in: Array(links), locking: locking) {
            let link = columns.map { child[$0] }
            if links.contains(link) { found[link, default: []].append(child) }
        }
        return found
    }

    /// The rows of a section that belong to one root row.
    func rows(of section: Section, in root: [Value], locking: Bool) throws(StoreError) -> [[Value]] {
        let link = section.link(to: root)
        if link.contains(.null) { return [] }
        return try rows(of: section, where: section.parent.map(\.column), in: [link], locking: locking)
    }

    /// Rows by tuples of columns, in batches.
    ///
    /// - Parameter includesHidden: also rows that do not exist for clients.
    func rows(
        of section: Section, where columns: [Int], in tuples: [[Value]], locking: Bool, includesHidden: Bool = false
    ) throws(StoreError) -> [[Value]] {
        let sql = SectionSQL.of(section, dialect)
        let isBound = section.kind == .list
        var start = 0
        let next: () -> Statement? = {
            guard start < tuples.count else { return nil }
            let batch = Array(tuples[start..<min(start + SectionSQL.maximumBatch, tuples.count)])
            start += batch.count
            return sql.select(
                where: columns, in: batch, locking: locking || locks, isOrdered: true,
                limit: isBound ? rowsPerRecord * batch.count + 1 : nil, includesHidden: includesHidden, waits: waits)
        }
        var rows: [[Value]] = []
        var left = tuples.count
        try session.run(next) { batch throws(StoreError) in
            let asked = min(SectionSQL.maximumBatch, left)
            left -= asked
            if isBound, batch.count > rowsPerRecord * asked { throw tooLarge(section) }
            if rows.isEmpty { rows = batch } else { rows += batch }
        }
        return rows
    }

    private func tooLarge(_ section: Section) -> StoreError {
        StoreError(
            .tooLarge,
            "a record has more than \(rowsPerRecord) rows in section “\(section.name)”; raise --rows-per-record")
    }
}

extension Dictionary {
    /// - Returns: whether there was no value for the key.
    fileprivate mutating func updateIfMissing(_ value: Value, for key: Key) -> Bool {
        guard self[key] == nil else { return false }
        self[key] = value
        return true
    }
}

extension Section {
    /// What this section's parent columns hold in the rows of a root row.
    func link(to root: [Value]) -> [Value] { parent.map { root[$0.rootColumn] } }

    var isLinkedByText: Bool {
        parent.contains { link in
            if case .text = columns[link.column].type { true } else { false }
        }
    }
}
