package import MergeCore

/// Rows in key order, without those that cannot be decoded.
///
/// A row whose key cannot be decoded has no id, so no client can get it.
package struct ReadableRows: Sendable {
    /// The digest of each row.
    package private(set) var digests: [UInt64] = []
    /// The requested values, row after row.
    package private(set) var values: [Value] = []
    /// The omitted rows.
    package private(set) var omitted = OmittedRows()

    fileprivate mutating func add(
        _ rows: HashedRows, width: Int, key: [Int], upTo limit: Int
    ) -> RecordKey? {
        var last: Int?
        for index in rows.digests.indices where digests.count < limit {
            let row = rows.values[(index * width)..<((index + 1) * width)]
            let hasNull = key.contains { row[row.startIndex + $0].isNull }
            if let reason = rows.unreadable[index] ?? (hasNull ? OmittedRows.nullKey : nil) {
                omitted.insert(rows.digests[index], because: reason)
                continue
            }
            digests.append(rows.digests[index])
            values += row
            last = index
        }
        return last.map { last in RecordKey(key.map { rows.values[last * width + $0] }) }
    }
}

/// The rows that pages and scans omit because they cannot be decoded.
package struct OmittedRows: Sendable {
    /// The digests of the rows, so that a row counts only once.
    private var digests: Set<UInt64> = []
    /// The first reason, which names columns and no values.
    package private(set) var reason: String?

    /// The reason if a key contains NULL.
    package static let nullKey = "a column of the key is NULL"
    private static let most = 1_000

    /// Begins without rows.
    package init() {}

    /// The number of rows, up to 1,000.
    package var count: Int { digests.count }

    mutating func insert(_ digest: UInt64, because reason: String) {
        self.reason = self.reason ?? reason
        if digests.count < Self.most { digests.insert(digest) }
    }

    /// Adds rows that were omitted in another part of the same table.
    package mutating func add(_ other: OmittedRows) {
        guard let reason = other.reason else { return }
        for digest in other.digests { insert(digest, because: reason) }
    }
}

extension StoreSession {
    /// Reads rows in key order and omits unreadable rows.
    ///
    /// If a statement returns no key that can be decoded, the next one reads twice as many rows.
    ///
    /// - Parameters:
    ///   - key: positions of the key's columns within `columns`.
    ///   - limit: the number of rows; fewer are returned only at the end.
    package func readableRows(
        keeping columns: [Int], key: [Int], after low: RecordKey?, limit: Int,
        _ statement: (_ low: RecordKey?, _ limit: Int) -> Statement
    ) throws(StoreError) -> ReadableRows {
        var found = ReadableRows()
        var (low, wanted) = (low, limit)
        while true {
            let rows = try hashes(statement(low, wanted), keeping: columns)
            let last = found.add(rows, width: columns.count, key: key, upTo: limit)
            if rows.digests.count < wanted || found.digests.count >= limit { return found }
            if let last {
                (low, wanted) = (last, limit - found.digests.count)
            } else {
                wanted *= 2
            }
        }
    }
}
