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
        let columns = Array(Set(0..<root.keyCount).union(resource.access?.columns ?? [])).sorted()
        var found: [RecordKey] = []
        var last = key
        while found.count < limit {
            let wanted = max(limit - found.count, Self.leastRows)
            let rows = try outlines(
                SectionSQL.of(root, dialect).page(after: last, limit: wanted, showing: filter), keeping: columns)
            for row in rows where view?.shows(row.values) ?? true {
                let key = root.key(of: row.values)
                if key != found.last { found.append(key) }
            }
            guard rows.count == wanted, let row = rows.last else { break }
            let next = root.key(of: row.values)
            guard next != last else { throw StoreError.unordered(root.table) }
            last = next
        }
        return Array(found.prefix(limit))
    }

    // MARK: A record that cannot be read

    /// A row of which only some columns were decoded; the other values are NULL.
    struct Outline {
        let values: [Value]
        let digest: UInt64
    }

    /// Hashes rows and decodes only the columns that are needed, so that a value in another column does no harm.
    func outlines(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> [Outline] {
        let statement = statement.hashing(under: digests?.key ?? SipHash.Key(low: 0, high: 0))
        let rows = try session.hashes(statement, keeping: columns)
        return rows.digests.enumerated().map { index, digest in
            var values = [Value](repeating: .null, count: statement.columns.count)
            for (place, column) in columns.enumerated() { values[column] = rows.values[index * columns.count + place] }
            return Outline(values: values, digest: digest)
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
        let wanted = keyColumns.union(access).union(links)
        let outline: [Outline]
        let isComplete: Bool
        do throws(StoreError) {
            outline = try outlines(select, keeping: wanted.sorted())
            isComplete = true
        } catch {
            guard error.isOfOneRecord else { throw error }
            outline = try outlines(select, keeping: keyColumns.sorted())
            isComplete = false
        }
        // The database may equate keys that are spelled otherwise.
        let rows = outline.filter { root.key(of: $0.values) == key }
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
        let conditions = isComplete && !access.isEmpty ? access.map { row.values[$0] } : nil
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
                    keeping: Set(columns).sorted())
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
