import MergeCore
import RecordStore

/// Reading goes on if some records cannot be read.
///
/// Records are read many at a time. Only if that fails because of what some rows contain, the reader halves the batch
/// until it has found the records that are unreadable.
extension RecordReader {
    /// The records that were asked for, parallel to their keys; nil for those that are gone.
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

    /// A page of records in key order.
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

    /// The keys of the next records that the client sees, without the values of their rows.
    private func keys(after key: RecordKey?, limit: Int) throws(StoreError) -> [RecordKey] {
        let root = resource.root
        let filter = view?.seesEveryRow == false ? view?.rowFilter : nil
        var found: [RecordKey] = []
        var last = key
        while found.count < limit {
            let wanted = max(limit - found.count, Self.leastRows)
            let page = SectionSQL.of(root, dialect).page(after: last, limit: wanted, showing: filter)
            let keys = try outlines(page, keeping: Set(0..<root.keyCount)).map { root.key(of: $0.values) }
            for key in try shown(keys, of: page) where key != found.last { found.append(key) }
            guard keys.count == wanted, let next = keys.last else { break }
            guard next != last else { throw StoreError.unordered(root.table) }
            last = next
        }
        return Array(found.prefix(limit))
    }

    /// The keys of a page's rows that the client sees; a row whose conditions cannot be read is hidden from it.
    private func shown(_ keys: [RecordKey], of page: Statement) throws(StoreError) -> [RecordKey] {
        guard let view, !view.seesEveryRow else { return keys }
        let root = resource.root
        let columns = Set(0..<root.keyCount).union(resource.access?.columns ?? [])
        if let rows = try readableOutlines(page, keeping: columns) {
            return rows.filter { view.shows($0.values) }.map { root.key(of: $0.values) }
        }
        var shown: [RecordKey] = []
        for key in keys {
            let select = SectionSQL.of(root, dialect).select(
                where: Array(0..<root.keyCount), in: [key.parts], locking: false)
            let rows = try readableOutlines(select, keeping: columns) ?? []
            if rows.contains(where: { root.key(of: $0.values) == key && view.shows($0.values) }) { shown.append(key) }
        }
        return shown
    }

    // MARK: A record that cannot be read

    /// A row of which only some columns were decoded; the other values are NULL.
    struct Outline {
        let values: [Value]
        let digest: UInt64
    }

    /// Hashes rows and decodes only the columns that are needed, so that a value in another column does no harm.
    func outlines(_ statement: Statement, keeping kept: Set<Int>) throws(StoreError) -> [Outline] {
        let columns = kept.sorted()
        let statement = statement.hashing(under: digests?.key ?? SipHash.Key(low: 0, high: 0))
        let rows = try session.hashes(statement, keeping: columns)
        return rows.digests.enumerated().map { index, digest in
            var values = [Value](repeating: .null, count: statement.columns.count)
            for (place, column) in columns.enumerated() { values[column] = rows.values[index * columns.count + place] }
            return Outline(values: values, digest: digest)
        }
    }

    /// The same; nil if a value in one of the columns cannot be read.
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

    /// What is known of a record that cannot be read; nil if it does not exist.
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
        // The database may equate keys that are spelled otherwise.
        let rows = (known ?? []).filter { root.key(of: $0.values) == key }
        guard let row = rows.first else { return nil }
        if let digests {
            let noted = digests.count
            var isNoted = isComplete && rows.count == 1
            if isNoted { isNoted = try note(row, locking: locking, in: digests) }
            if !isNoted {
                digests.forget(from: noted)
                digests.noteUnknown(key, in: resource)
            }
        }
        let conditions = areConditionsKnown && !access.isEmpty ? access.map { row.values[$0] } : nil
        return .unreadable(
            UnreadableRecord(
                key: key, reason: error.message, isTooLong: error.kind == .tooLarge, conditions: conditions))
    }

    /// Notes the digests of the rows of a record, so that a client is told if another program repairs it.
    ///
    /// - Returns: false if they cannot be had.
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
    /// What one record contains causes the error, so that other records can be read.
    var isOfOneRecord: Bool { kind == .unreadable || kind == .tooLarge }
}
