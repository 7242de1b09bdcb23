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

    /// The records of some keys; those that are gone, or are spelled otherwise in the database, are missing.
    func records(_ keys: [RecordKey], locking: Bool) throws(StoreError) -> [RecordKey: Record] {
        let root = resource.root
        let rows = try rows(of: root, where: Array(0..<root.keyCount), in: keys.map(\.parts), locking: locking)
        let wanted = Set(keys)
        return try records(from: rows.filter { wanted.contains(root.key(of: $0)) }, locking: locking)
    }

    /// A page of records in key order.
    func page(after key: RecordKey?, limit: Int) throws(StoreError) -> [Record] {
        let root = resource.root
        let rows = try session.query(SectionSQL.of(root, dialect).page(after: key, limit: limit))
        let records = try records(from: rows, locking: false)
        return rows.compactMap { records[root.key(of: $0)] }
    }

    /// Records of a table without a key, which are one row each.
    func page(offset: Int, limit: Int) throws(StoreError) -> [Record] {
        try session.query(SectionSQL.of(resource.root, dialect).page(offset: offset, limit: limit)).map { row in
            Record(key: RecordKey([]), sections: [.one(row)])
        }
    }

    /// Completes root rows to records.
    private func records(from rows: [[Value]], locking: Bool) throws(StoreError) -> [RecordKey: Record] {
        let root = resource.root
        var records: [RecordKey: Record] = [:]
        for row in rows { records[root.key(of: row)] = Record(key: root.key(of: row), sections: [.one(row)]) }
        for section in resource.sections.dropFirst() {
            let children = try children(of: rows, in: section, locking: locking)
            for row in rows {
                let key = root.key(of: row)
                let found = children[key] ?? []
                if section.kind == .singleton, found.count > 1 {
                    throw StoreError(
                        .unreadable,
                        "table “\(section.table)” holds more than one row of a record; the rules call section "
                            + "“\(section.name)” a singleton, make it a list")
                }
                records[key]?.sections.append(section.kind == .list ? .many(found) : .one(found.first))
            }
        }
        return records
    }

    /// The rows of one section, by the keys of their records.
    private func children(
        of rows: [[Value]], in section: Section, locking: Bool
    ) throws(StoreError) -> [RecordKey: [[Value]]] {
        let root = resource.root
        var found: [RecordKey: [[Value]]] = [:]
        if section.isLinkedByText {
            // Only the database knows which spellings its collation equates, so each record asks for its own rows.
            for row in rows {
                found[root.key(of: row)] = try self.rows(of: section, in: row, locking: locking)
            }
            return found
        }
        var owners: [[Value]: RecordKey] = [:]
        for row in rows {
            let link = section.link(to: row)
            if !link.contains(.null) { owners[link] = root.key(of: row) }
        }
        let columns = section.parent.map(\.column)
        for child in try self.rows(of: section, where: columns, in: Array(owners.keys), locking: locking) {
            if let owner = owners[columns.map { child[$0] }] { found[owner, default: []].append(child) }
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
        var rows: [[Value]] = []
        var start = 0
        while start < tuples.count {
            let end = min(start + SectionSQL.maximumBatch, tuples.count)
            let bound = section.kind == .list ? rowsPerRecord * (end - start) + 1 : nil
            let batch = try session.query(
                sql.select(
                    where: columns, in: Array(tuples[start..<end]), locking: locking || locks, isOrdered: true,
                    limit: bound, includesHidden: includesHidden, waits: waits))
            if let bound, batch.count == bound {
                throw StoreError(
                    .tooLarge,
                    "a record has more than \(rowsPerRecord) rows in section “\(section.name)”; raise --rows-per-record"
                )
            }
            rows += batch
            start = end
        }
        return rows
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
