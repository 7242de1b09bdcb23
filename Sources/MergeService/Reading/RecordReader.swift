import MergeCore
import RecordStore

/// Reads whole records inside a transaction, with one statement for each table and batch of records.
struct RecordReader {
    let resource: Resource
    let session: any StoreSession
    let dialect: any Dialect
    let rowsPerRecord: Int
    /// True if locking reads wait for rows that another transaction has locked.
    var waits = true
    /// True if referred rows, whose columns the records show, are locked against writes.
    var sharesReferred = false
    /// The rights of the client that reads pages; nil without access rules.
    var view: ResourceView?
    /// Collects the digests of the rows; nil if they are not needed.
    var digests: RecordDigests?
    /// Called with the rows that pages omit.
    var reportOmitted: ((OmittedRows) -> Void)?

    var locks: Bool { session.mustLockReads }

    /// Reads records, parallel to their keys; nil for missing records and other spellings of a key.
    func records(_ keys: [RecordKey], locking: Bool) throws(StoreError) -> [ReadRecord?] {
        try receive(send(keys, locking: locking))
    }

    struct Asked {
        let keys: [RecordKey]
        /// Each distinct key with its position.
        fileprivate let places: [RecordKey: Int]
        fileprivate let roots: [Ticket]
        /// Rows of the sections whose links are part of the records' keys, by the section's position.
        fileprivate let children: [Int: [AskedRows]]
        let locking: Bool
    }

    fileprivate struct AskedRows {
        let ticket: Ticket
        let records: Int
    }

    private struct ReceivedRows {
        let rows: Result<[[Value]], StoreError>
        let records: Int
    }

    /// Sends the queries without waiting.
    func send(_ keys: [RecordKey], locking: Bool) -> Asked {
        var places: [RecordKey: Int] = Dictionary(minimumCapacity: keys.count)
        var wanted: [[Value]] = []
        wanted.reserveCapacity(keys.count)
        for key in keys where places.updateIfMissing(wanted.count, for: key) { wanted.append(key.parts) }
        let columns = Array(0..<resource.root.keyCount)
        let roots = batches(wanted).map { batch in
            session.send(
                SectionSQL.of(resource.root, dialect).select(
                    where: columns, in: batch, locking: locking || locks, isOrdered: true, waits: waits,
                    sharesReferred: sharesReferred
                ).hashing(under: digests?.key))
        }
        var children: [Int: [AskedRows]] = [:]
        for (index, section) in resource.sections.enumerated().dropFirst() where section.hangs(onKeyOf: resource.root) {
            let links = Set(wanted.map { section.link(to: $0) })
            children[index] = batches(Array(links)).map { batch in
                AskedRows(
                    ticket: session.send(
                        select(
                            section, where: section.parent.map(\.column), in: batch, locking: locking,
                            includesHidden: false)),
                    records: batch.count)
            }
        }
        return Asked(keys: keys, places: places, roots: roots, children: children, locking: locking)
    }

    private func batches(_ tuples: [[Value]]) -> [[[Value]]] {
        stride(from: 0, to: tuples.count, by: SectionSQL.maximumBatch).map { start in
            Array(tuples[start..<min(start + SectionSQL.maximumBatch, tuples.count)])
        }
    }

    /// Receives the requested records, parallel to their keys.
    ///
    /// - Throws: `StoreError` if one of them cannot be read.
    func receiveAll(_ asked: Asked) throws(StoreError) -> [Record?] {
        let places = asked.places
        // All answers are received first, so that none is pending after an error.
        let answers = asked.roots.map { received($0, records: 0) }
        let children = asked.children.mapValues { $0.map { received($0.ticket, records: $0.records) } }
        var positions = [Int?](repeating: nil, count: places.count)
        var records: [Record] = []
        records.reserveCapacity(places.count)
        var roots: [[Value]] = []
        for answer in answers {
            for found in try answer.rows.get() {
                let row = noted(found)
                let key = resource.root.key(of: row)
                guard let place = places[key] else { continue }
                guard positions[place] == nil else { throw StoreError.ambiguous(resource.root) }
                positions[place] = records.count
                records.append(Record(key: key, sections: [.one(row)]))
                roots.append(row)
            }
        }
        try complete(&records, of: roots, with: children, locking: asked.locking)
        if places.count == asked.keys.count { return positions.map { $0.map { records[$0] } } }
        return asked.keys.map { key in places[key].flatMap { positions[$0] }.map { records[$0] } }
    }

    private func received(_ ticket: Ticket, records: Int) -> ReceivedRows {
        do throws(StoreError) {
            return ReceivedRows(rows: .success(try session.receive(ticket)), records: records)
        } catch {
            return ReceivedRows(rows: .failure(error), records: records)
        }
    }

    /// Throws if a record cannot be read.
    func wholePage(after key: RecordKey?, limit: Int) throws(StoreError) -> [Record] {
        let rows = try rootRows(after: key, limit: limit)
        var records = rows.map { Record(key: resource.root.key(of: $0), sections: [.one($0)]) }
        try complete(&records, of: rows, with: [:], locking: false)
        guard let view else { return records }
        return records.compactMap { view.seen($0) }
    }

    private func rootRows(after key: RecordKey?, limit: Int) throws(StoreError) -> [[Value]] {
        guard let view, !view.seesEveryRow else { return try allRootRows(after: key, limit: limit, showing: nil) }
        let filter = view.rowFilter
        var found: [[Value]] = []
        var last = key
        // The filter of the SQL may return rows that are hidden from the client.
        while found.count < limit {
            let wanted = max(limit - found.count, Self.leastRows)
            let rows = try allRootRows(after: last, limit: wanted, showing: filter)
            found += rows.filter(view.shows)
            guard rows.count == wanted, let row = rows.last else { break }
            last = resource.root.key(of: row)
        }
        return Array(found.prefix(limit))
    }

    private func allRootRows(
        after key: RecordKey?, limit: Int, showing filter: RowFilter?
    ) throws(StoreError) -> [[Value]] {
        let root = resource.root
        let rows = try session.query(
            SectionSQL.of(root, dialect).page(after: key, limit: limit, showing: filter).hashing(under: digests?.key)
        ).map { noted($0) }
        // A page that ends with a NULL key would have no next page.
        guard rows.allSatisfy({ !$0.prefix(root.keyCount).contains(.null) }) else {
            throw StoreError(.unreadable, OmittedRows.nullKey)
        }
        guard root.tellsApart(rows) else { throw StoreError.ambiguous(root) }
        if let key, rows.contains(where: { root.isKey(key, of: $0) }) { throw StoreError.unordered(root.table) }
        return rows
    }

    /// The least number of rows in a query whose result is filtered.
    static let leastRows = 64

    /// Returns a root row without its digest, which is collected.
    private func noted(_ row: [Value]) -> [Value] {
        guard let digests else { return row }
        var row = row
        let digest = RecordDigests.take(from: &row)
        digests.note(root: row, digest: digest, in: resource)
        return row
    }

    private func noted(_ rows: [[Value]], of section: Int, root: [Value]) -> [[Value]] {
        guard let digests else { return rows }
        return rows.map { row in
            var row = row
            let digest = RecordDigests.take(from: &row)
            digests.note(row, digest: digest, of: section, root: root, in: resource)
            return row
        }
    }

    func page(offset: Int, limit: Int) throws(StoreError) -> [Record] {
        try session.query(SectionSQL.of(resource.root, dialect).page(offset: offset, limit: limit)).map { row in
            Record(key: RecordKey([]), sections: [.one(row)])
        }
    }

    /// Adds the other sections to records that contain only their root rows.
    ///
    /// - Parameter received: rows that were already received, by the section's position.
    private func complete(
        _ records: inout [Record], of roots: [[Value]], with received: [Int: [ReceivedRows]], locking: Bool
    ) throws(StoreError) {
        for (position, section) in resource.sections.enumerated().dropFirst() {
            let rows: [[Value]: [[Value]]]
            if let parts = received[position], let known = try self.rows(parts, of: section) {
                rows = known
            } else {
                rows = try children(of: roots, in: section, locking: locking)
            }
            for (index, root) in roots.enumerated() {
                let found = noted(rows[section.link(to: root)] ?? [], of: position, root: root)
                switch section.kind {
                case .list:
                    guard found.count <= rowsPerRecord else { throw tooLarge(section) }
                    guard section.tellsApart(found) else { throw StoreError.ambiguous(section) }
                    records[index].sections.append(.many(found))
                case .root, .singleton:
                    guard found.count <= 1 else {
                        throw StoreError(
                            .unreadable,
                            "table “\(section.table)” contains more than one row of the record, and section "
                                + "“\(section.name)” is a singleton; delete the other rows or make the section a list")
                    }
                    records[index].sections.append(.one(found.first))
                }
            }
        }
    }

    /// Groups received rows of one section by their links.
    ///
    /// - Returns: nil if the rows are incomplete; the cause need not concern existing records.
    private func rows(_ received: [ReceivedRows], of section: Section) throws(StoreError) -> [[Value]: [[Value]]]? {
        var found: [[Value]: [[Value]]] = [:]
        let columns = section.parent.map(\.column)
        var isWhole = true
        for part in received {
            do throws(StoreError) {
                let rows = try part.rows.get()
                if exceeds(rows, of: section, records: part.records) { isWhole = false }
                for row in rows { found[columns.map { row[$0] }, default: []].append(row) }
            } catch {
                guard error.kind == .unreadable else { throw error }
                isWhole = false
            }
        }
        return isWhole ? found : nil
    }

    private func children(
        of roots: [[Value]], in section: Section, locking: Bool
    ) throws(StoreError) -> [[Value]: [[Value]]] {
        var found: [[Value]: [[Value]]] = [:]
        let links = Set(roots.map { section.link(to: $0) }).filter { !$0.contains(.null) }
        let columns = section.parent.map(\.column)
        for child in try rows(of: section, where: columns, in: Array(links), locking: locking) {
            found[columns.map { child[$0] }, default: []].append(child)
        }
        return found
    }

    /// Reads the rows that some values link to a record.
    func rows(of section: Section, linkedBy link: [Value], locking: Bool) throws(StoreError) -> [[Value]] {
        let columns = section.parent.map(\.column)
        let mayPreselectOthers = RecordKey(link).hasText && section.keyCount > 0 && !dialect.lockingClause.isEmpty
        if locking, mayPreselectOthers, !locks, let own = try lockWithoutOthers(section, link: link) { return own }
        return try rows(of: section, where: columns, in: [link], locking: locking)
    }

    /// Locks the rows of one record without rows of other records that the collation equates.
    ///
    /// Unlike a locking read by the link, it does not wait for uncommitted rows of other programs.
    ///
    /// - Returns: nil if the collation equates no other rows, or another program has just committed rows.
    private func lockWithoutOthers(_ section: Section, link: [Value]) throws(StoreError) -> [[Value]]? {
        let columns = section.parent.map(\.column)
        var equated: [[Value]]?
        do throws(StoreError) {
            equated = try rows(of: section, where: columns, in: [link], locking: false, includesEquated: true)
        } catch {
            // With rows of other records, the result may exceed the limit of one record.
            guard error.kind == .tooLarge else { throw error }
        }
        let own: [[Value]]
        if let equated {
            own = Self.equal(equated, columns: columns, to: [link])
        } else {
            own = try rows(of: section, where: columns, in: [link], locking: false)
        }
        if own.count == equated?.count { return nil }
        let keys = own.map { section.key(of: $0).parts }
        let locked = try rows(of: section, where: Array(0..<section.keyCount), in: keys, locking: true)
        let current = try rows(of: section, where: columns, in: [link], locking: false)
        guard Set(current.map { section.key(of: $0).parts }).isSubset(of: keys) else { return nil }
        return Self.equal(locked, columns: columns, to: [link])
    }

    /// Reads rows whose columns contain one of the tuples, in batches.
    ///
    /// SQL compares by collations and paddings, so it preselects rows, and the values decide here. Only this function
    /// selects rows of a section by their content.
    ///
    /// - Parameters:
    ///   - includesHidden: if true, also returns rows that the rules hide.
    ///   - includesEquated: if true, also returns rows that only the database considers equal.
    func rows(
        of section: Section, where columns: [Int], in tuples: [[Value]], locking: Bool, includesHidden: Bool = false,
        includesEquated: Bool = false
    ) throws(StoreError) -> [[Value]] {
        let batches = batches(tuples)
        var next = batches[...]
        var asked = batches[...]
        var rows: [[Value]] = []
        try session.run {
            next.popFirst().map {
                select(section, where: columns, in: $0, locking: locking, includesHidden: includesHidden)
            }
        } _: { batch throws(StoreError) in
            let tuples = asked.popFirst() ?? []
            var found = includesEquated ? batch : Self.equal(batch, columns: columns, to: tuples)
            if exceeds(batch, of: section, records: tuples.count) {
                // The caller reads several records one by one later.
                guard found.count < batch.count, tuples.count == 1 else { throw tooLarge(section) }
                found = try allRows(
                    of: section, where: columns, in: tuples, locking: locking, includesHidden: includesHidden)
            }
            if rows.isEmpty { rows = found } else { rows += found }
        }
        return rows
    }

    /// Reads the rows of one record if the collation equates rows of other records.
    ///
    /// - Throws: `StoreError` if the record has too many rows, or if the preselection exceeds the limit times
    ///   `mostPreselected`.
    private func allRows(
        of section: Section, where columns: [Int], in tuples: [[Value]], locking: Bool, includesHidden: Bool
    ) throws(StoreError) -> [[Value]] {
        var factor = 2
        while factor <= Self.mostPreselected {
            let rows = try session.query(
                select(
                    section, where: columns, in: tuples, locking: locking, includesHidden: includesHidden,
                    records: factor))
            let found = Self.equal(rows, columns: columns, to: tuples)
            guard found.count <= rowsPerRecord else { throw tooLarge(section) }
            if !exceeds(rows, of: section, records: factor) { return found }
            factor *= 2
        }
        throw StoreError(
            .tooLarge,
            "the collation of table “\(section.table)” takes more than \(Self.mostPreselected * rowsPerRecord) rows for "
                + "rows of the record; give the parent column an exact collation, or raise --rows-per-record")
    }

    private static let mostPreselected = 16

    private static func equal(_ rows: [[Value]], columns: [Int], to tuples: [[Value]]) -> [[Value]] {
        if tuples.count == 1, let only = tuples.first {
            func isEqual(_ row: [Value]) -> Bool { zip(columns, only).allSatisfy { row[$0] == $1 } }
            return rows.allSatisfy(isEqual) ? rows : rows.filter(isEqual)
        }
        let wanted = Set(tuples)
        return rows.filter { row in wanted.contains(columns.map { row[$0] }) }
    }

    /// `records` is the number of records whose rows the statement may return; nil for the number of tuples.
    private func select(
        _ section: Section, where columns: [Int], in tuples: [[Value]], locking: Bool, includesHidden: Bool,
        records: Int? = nil
    ) -> Statement {
        let most = rowsPerRecord * (records ?? tuples.count)
        return SectionSQL.of(section, dialect).select(
            where: columns, in: tuples, locking: locking || locks, isOrdered: true,
            limit: section.kind == .list ? most + 1 : nil, includesHidden: includesHidden, waits: waits,
            sharesReferred: sharesReferred
        ).hashing(under: digests?.key)
    }

    /// A list's SELECT requests one row more than the limit.
    private func exceeds(_ rows: [[Value]], of section: Section, records: Int) -> Bool {
        section.kind == .list && rows.count > rowsPerRecord * records
    }

    private func tooLarge(_ section: Section) -> StoreError {
        StoreError(
            .tooLarge,
            "the record has more than \(rowsPerRecord) rows in section “\(section.name)”; raise --rows-per-record")
    }
}

extension Dictionary {
    fileprivate mutating func updateIfMissing(_ value: Value, for key: Key) -> Bool {
        guard self[key] == nil else { return false }
        self[key] = value
        return true
    }
}

extension Section {
    func link(to root: [Value]) -> [Value] { parent.map { root[$0.rootColumn] } }

    /// True if the parent columns are part of the record's key.
    fileprivate func hangs(onKeyOf root: Section) -> Bool {
        parent.allSatisfy { $0.rootColumn < root.keyCount }
    }

    /// Returns true if all rows, in the section's order, have different keys.
    fileprivate func tellsApart(_ rows: [[Value]]) -> Bool {
        guard keyCount > 0, rows.count > 1 else { return true }
        // In key order, rows with the same key are neighbours.
        guard order.isEmpty else { return Set(rows.map { key(of: $0) }).count == rows.count }
        return zip(rows, rows.dropFirst()).allSatisfy { $0.prefix(keyCount) != $1.prefix(keyCount) }
    }
}

extension StoreError {
    static func ambiguous(_ section: Section) -> StoreError {
        StoreError(
            .unreadable,
            "more than one row of table “\(section.table)” has the same key; make the key unique, or name another key in "
                + "the rules")
    }
}
