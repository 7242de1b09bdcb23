import MergeCore
import RecordStore

/// Isolates records that cannot be read, so that a batch returns the other records.
///
/// If a batch fails because of a row's content, the reader halves it until it has found the unreadable records.
extension RecordReader {
    /// Receives the requested records, parallel to their keys; nil for missing records.
    func receive(_ asked: Asked) throws(StoreError) -> [ReadRecord?] {
        let noted = digests?.count
        do throws(StoreError) {
            return try receiveAll(asked).map { $0.map { ReadRecord.readable($0) } }
        } catch {
            guard error.isOfOneRecord else { throw error }
            digests?.forget(from: noted)
            return try separately(asked.keys, locking: asked.locking, because: error)
        }
    }

    func page(after key: RecordKey?, limit: Int) throws(StoreError) -> [ReadRecord] {
        let noted = digests?.count
        do throws(StoreError) {
            return try wholePage(after: key, limit: limit).map { ReadRecord.readable($0) }
        } catch {
            guard error.isOfOneRecord else { throw error }
            digests?.forget(from: noted)
            return try records(keys(after: key, limit: limit), locking: false).compactMap { $0?.seen(by: view) }
        }
    }

    private func separately(
        _ keys: [RecordKey], locking: Bool, because error: StoreError
    ) throws(StoreError) -> [ReadRecord?] {
        guard let first = keys.first else { return [] }
        guard keys.contains(where: { $0 != first }) else {
            let record = try unreadable(first, locking: locking, because: error)
            return keys.map { _ in record }
        }
        let half = keys.count / 2
        return try records(Array(keys[..<half]), locking: locking) + records(Array(keys[half...]), locking: locking)
    }

    /// Returns the next visible keys; a row whose key cannot be decoded has no id, so it is omitted.
    private func keys(after key: RecordKey?, limit: Int) throws(StoreError) -> [RecordKey] {
        let root = resource.root
        let sql = SectionSQL.of(root, dialect)
        let filter = view?.seesEveryRow == false ? view?.rowFilter : nil
        let columns = Array(0..<root.keyCount)
        var found: [RecordKey] = []
        var last = key
        while found.count < limit {
            let wanted = max(limit - found.count, Self.leastRows)
            let rows = try session.readableRows(keeping: columns, key: columns, after: last, limit: wanted) {
                sql.page(after: $0, limit: $1, showing: filter).hashing(under: Self.plainHash)
            }
            if rows.omitted.count > 0 { reportOmitted?(rows.omitted) }
            let keys = rows.digests.indices.map { index in
                RecordKey(Array(rows.values[(index * columns.count)..<((index + 1) * columns.count)]))
            }
            for key in try shown(keys) where key != found.last { found.append(key) }
            guard keys.count == wanted, let next = keys.last else { break }
            guard next != last else { throw StoreError.unordered(root.table) }
            last = next
        }
        return Array(found.prefix(limit))
    }

    /// A key for digests that are not compared with those of other reads.
    private static let plainHash = SipHash.Key(low: 0, high: 0)

    /// Returns the visible keys; a row whose conditions cannot be read is hidden.
    private func shown(_ keys: [RecordKey]) throws(StoreError) -> [RecordKey] {
        guard let view, !view.seesEveryRow else { return keys }
        let root = resource.root
        let columns = Set(0..<root.keyCount).union(resource.access?.columns ?? []).union(view.filteredColumns)
        var shown: Set<RecordKey> = []
        for start in stride(from: 0, to: keys.count, by: SectionSQL.maximumBatch) {
            let batch = keys[start..<min(start + SectionSQL.maximumBatch, keys.count)]
            let select = SectionSQL.of(root, dialect).select(
                where: Array(0..<root.keyCount), in: batch.map(\.parts), locking: false)
            let rows = try readOutlines(select, keeping: columns).compactMap(\.self)
            for row in rows where view.shows(row.values) { shown.insert(root.key(of: row.values)) }
        }
        return keys.filter(shown.contains)
    }

    // MARK: An unreadable record

    /// A row of which only some columns were decoded; the other values are NULL.
    struct Outline {
        let values: [Value]
        let digest: UInt64
    }

    /// Decodes only the needed columns, so that other columns may contain invalid values.
    func outlines(_ statement: Statement, keeping kept: Set<Int>) throws(StoreError) -> [Outline] {
        try readOutlines(statement, keeping: kept) { reason throws(StoreError) in
            throw StoreError(.unreadable, reason)
        }.compactMap(\.self)
    }

    /// Returns nil for a row if a needed column cannot be decoded.
    ///
    /// - Parameter report: called with the reason for each of these rows.
    private func readOutlines(
        _ statement: Statement, keeping kept: Set<Int>,
        _ report: (_ reason: String) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> [Outline?] {
        let columns = kept.sorted()
        let rows = try session.hashes(statement.hashing(under: digests?.key ?? Self.plainHash), keeping: columns)
        var outlines: [Outline?] = []
        for (index, digest) in rows.digests.enumerated() {
            if let reason = rows.unreadable[index] {
                try report(reason)
                outlines.append(nil)
                continue
            }
            var values = [Value](repeating: .null, count: statement.columns.count)
            for (place, column) in columns.enumerated() { values[column] = rows.values[index * columns.count + place] }
            outlines.append(Outline(values: values, digest: digest))
        }
        return outlines
    }

    private func readableOutlines(
        _ statement: Statement, keeping columns: Set<Int>
    ) throws(StoreError) -> [Outline]? {
        do throws(StoreError) {
            return try outlines(statement, keeping: columns)
        } catch {
            guard error.isOfOneRecord else { throw error }
            return nil
        }
    }

    /// Returns the readable facts about an unreadable record; nil if it does not exist.
    private func unreadable(
        _ key: RecordKey, locking: Bool, because error: StoreError
    ) throws(StoreError) -> ReadRecord? {
        let root = resource.root
        let select = SectionSQL.of(root, dialect).select(
            where: Array(0..<root.keyCount), in: [key.parts], locking: locking || locks, waits: waits)
        let keyColumns = Set(0..<root.keyCount)
        let access = resource.access?.columns ?? []
        let links = resource.sections.flatMap { $0.parent.map(\.rootColumn) }
        var known = try readableOutlines(select, keeping: keyColumns.union(access).union(links))
        let isComplete = known != nil
        if known == nil { known = try readableOutlines(select, keeping: keyColumns.union(access)) }
        let areConditionsKnown = known != nil
        if known == nil { known = try outlines(select, keeping: keyColumns) }
        // The database may equate keys with different spellings.
        let rows = (known ?? []).filter { root.key(of: $0.values) == key }
        guard let row = rows.first else { return nil }
        if let digests {
            let noted = digests.count
            var isNoted = isComplete && rows.count == 1
            if isNoted { isNoted = try note(row, locking: locking, in: digests) }
            if !isNoted {
                digests.forget(from: noted)
                digests.noteUnknown(key, in: resource, rootDigest: rows.reduce(0) { $0 &+ $1.digest })
            }
        }
        let conditions = areConditionsKnown && !access.isEmpty ? access.map { row.values[$0] } : nil
        return .unreadable(
            UnreadableRecord(
                key: key, reason: error.message, isTooLong: error.kind == .tooLarge, conditions: conditions))
    }

    /// Adds the digests of a record's rows, so that the feed reports a later repair by another program.
    ///
    /// - Returns: false if a digest cannot be computed.
    private func note(_ root: Outline, locking: Bool, in digests: RecordDigests) throws(StoreError) -> Bool {
        digests.note(root: root.values, digest: root.digest, in: resource)
        for (position, section) in resource.sections.enumerated().dropFirst() {
            let link = section.link(to: root.values)
            if link.contains(.null) { continue }
            let columns = section.parent.map(\.column)
            do throws(StoreError) {
                let rows = try outlines(
                    SectionSQL.of(section, dialect).select(where: columns, in: [link], locking: locking || locks),
                    keeping: Set(columns))
                for row in rows {
                    digests.note(row.values, digest: row.digest, of: position, root: root.values, in: resource)
                }
            } catch {
                guard error.isOfOneRecord else { throw error }
                return false
            }
        }
        return true
    }
}

extension StoreError {
    /// True if one record causes the error, so that other records can be read.
    var isOfOneRecord: Bool { kind == .unreadable || kind == .tooLarge }
}
