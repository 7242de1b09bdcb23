import Foundation
import GRDB
import Synchronization

/// Indexes of the bases.
///
/// - `query_index(resource, number, shape, cursor)`: an index for each resource. `cursor` is the last key that was read while
///   it is built, and null if it is whole.
/// - `query_entry_NUMBER(place, value, key)`: its entries.
/// - `query_stale(resource, key)`: bases that changed since their entries were written. Triggers add them, whichever process
///   and version of this library writes a base.
///
/// An index only names candidates, and each of them is tested. Stale records are candidates of every query. So an index can
/// cost time, but no record is missing.
extension Ledger {
    /// The number of records whose entries are written in one transaction, which an edit may have to wait for.
    private static let batch = 200
    /// The number of candidates from which on reading all records is better.
    private static let few = 20_000

    private static let isIndexed = "EXISTS (SELECT 1 FROM query_index WHERE resource ="
    private static func mark(_ row: String) -> String {
        "INSERT OR IGNORE INTO query_stale SELECT \(row).resource, \(row).key"
            + " WHERE \(isIndexed) \(row).resource);"
    }

    private static let schema = [
        """
        CREATE TABLE IF NOT EXISTS query_index (
          resource TEXT PRIMARY KEY, number INTEGER NOT NULL, shape TEXT NOT NULL, cursor TEXT) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS query_stale (
          resource TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID
        """,
        "CREATE TRIGGER IF NOT EXISTS query_insert AFTER INSERT ON base BEGIN \(mark("new")) END",
        """
        CREATE TRIGGER IF NOT EXISTS query_update AFTER UPDATE OF resource, key, record ON base
        BEGIN \(mark("old")) \(mark("new")) END
        """,
        "CREATE TRIGGER IF NOT EXISTS query_delete AFTER DELETE ON base BEGIN \(mark("old")) END",
    ]

    // MARK: Building

    /// Returns the indexes that this opening declares, by the rules in force.
    private func declaredIndexes() throws -> [String: IndexShape] {
        try rules()?.resources.compactMapValues(context.indexes.shape) ?? [:]
    }

    /// Drops undeclared indexes, and begins to build the declared ones.
    func claimIndexes() throws {
        let wanted = try declaredIndexes()
        let isTracked = try hasIndexTriggers()
        for statement in Self.schema { try db.execute(sql: statement) }
        for row in try rows("SELECT resource, number, shape FROM query_index") {
            let resource: String = row[0]
            if isTracked, wanted[resource]?.text == row[2] { continue }
            try db.execute(sql: "DROP TABLE IF EXISTS query_entry_\(row[1] as Int)")
            try write("DELETE FROM query_index WHERE resource = ?", [resource])
            try write("DELETE FROM query_stale WHERE resource = ?", [resource])
        }
        for (resource, shape) in wanted.sorted(by: { $0.key < $1.key }) {
            guard try number("SELECT 1 FROM query_index WHERE resource = ?", [resource]) == nil else { continue }
            let number = try number("SELECT coalesce(max(number), 0) + 1 FROM query_index") ?? 1
            try db.execute(
                sql: """
                    CREATE TABLE query_entry_\(number) (
                      place INTEGER NOT NULL, value BLOB NOT NULL, key TEXT NOT NULL,
                      PRIMARY KEY (place, value, key)) WITHOUT ROWID
                    """)
            try db.execute(sql: "CREATE INDEX query_entry_\(number)_key ON query_entry_\(number) (key)")
            try write("INSERT INTO query_index VALUES (?, ?, ?, '')", [resource, number, shape.text])
        }
        if wanted.isEmpty { try dropIndexTriggers() }
    }

    /// Returns whether an index of this opening lacks entries.
    func hasStaleIndexes() throws -> Bool {
        for (resource, shape) in try declaredIndexes() {
            guard let index = try index(of: resource, shape) else { continue }
            let stale = try number("SELECT 1 FROM query_stale WHERE resource = ? LIMIT 1", [resource])
            if index.cursor != nil || stale != nil { return true }
        }
        return false
    }

    /// Writes the entries of some records.
    func extendIndexes() throws {
        for (resource, shape) in try declaredIndexes() {
            guard let index = try index(of: resource, shape) else { continue }
            if let cursor = index.cursor {
                let bases = try rows(
                    "SELECT key, record FROM base WHERE resource = ? AND key > ? ORDER BY key LIMIT ?",
                    [resource, cursor, Self.batch])
                for row in bases { try addEntries(of: row[1], row[0], to: index.number, shape) }
                let isWhole = bases.count < Self.batch
                try write(
                    "UPDATE query_index SET cursor = ? WHERE resource = ?",
                    [isWhole ? nil : bases.last.map { $0[0] as IDText }, resource])
                return
            }
            let stale = try rows(
                "SELECT s.key, b.record FROM query_stale s LEFT JOIN base b USING (resource, key)"
                    + " WHERE s.resource = ? LIMIT ?", [resource, Self.batch])
            for row in stale {
                let key: IDText = row[0]
                try write("DELETE FROM query_entry_\(index.number) WHERE key = ?", [key])
                if let record = row[1] as String? { try addEntries(of: record, key, to: index.number, shape) }
                try write("DELETE FROM query_stale WHERE resource = ? AND key = ?", [resource, key])
            }
            if !stale.isEmpty { return }
        }
    }

    private func addEntries(of record: String, _ key: IDText, to number: Int64, _ shape: IndexShape) throws {
        guard let members = JSONValue(text: record)?.objectValue else { return }
        for entry in shape.entries(of: members) {
            try write(
                "INSERT OR IGNORE INTO query_entry_\(number) VALUES (?, ?, ?)",
                [entry.place, Data(entry.value.bytes), key])
        }
    }

    /// Ends the notes of changes, without which no query uses an index.
    func dropIndexTriggers() throws {
        for name in ["insert", "update", "delete"] { try db.execute(sql: "DROP TRIGGER IF EXISTS query_\(name)") }
    }

    /// Drops all indexes of the store.
    func dropIndexes() throws {
        try dropIndexTriggers()
        for name in try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'query_*'")
        {
            try db.execute(sql: "DROP TABLE \(name)")
        }
    }

    /// Returns whether each change of a base is noted.
    func hasIndexTriggers() throws -> Bool {
        try number("SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'query_*'") == 3
    }

    // MARK: Using

    /// Returns the number of an index and the progress of its building; nil if it does not exist in this shape.
    private func index(of resource: String, _ shape: IndexShape) throws -> (number: Int64, cursor: String?)? {
        guard try hasIndexTriggers() else { return nil }
        let found = try row(
            "SELECT number, cursor FROM query_index WHERE resource = ? AND shape = ?", [resource, shape.text])
        return found.map { ($0[0], $0[1]) }
    }

    /// Calls a function with the keys of candidates, in parts.
    ///
    /// - Parameters:
    ///   - edited: the keys of records that are no candidates.
    ///   - visit: receives keys, and returns the first matching rows so far.
    /// - Returns: the path of the index that was used; nil if it is better to read all records.
    func scanIndex(
        _ query: CompiledQuery, wanted: Int?, without edited: Set<IDText>, _ visit: ([IDText]) throws -> [QueryRow]
    ) throws -> String? {
        let resource = query.query.resource
        guard context.indexes.isDeclared, let known = try known(resource), let shape = context.indexes.shape(of: known)
        else { return nil }
        do {
            guard let (number, cursor) = try index(of: resource, shape), cursor == nil else { return nil }
            let stale = try keys("SELECT key FROM query_stale WHERE resource = ? LIMIT ?", [resource, Self.few + 1])
            guard stale.count <= Self.few else { return nil }
            let reader = IndexReader(ledger: self, number: number, shape: shape, excluded: edited.union(stale))
            guard let used = try reader.scan(query, wanted: wanted, few: Self.few, visit) else { return nil }
            _ = try visit(stale.filter { !edited.contains($0) })
            return used
        } catch let error as DatabaseError where error.isOfIndex {
            context.isIndexBroken.withLock { $0 = true }
            return nil
        }
    }

    func keys(_ sql: String, _ arguments: StatementArguments) throws -> [IDText] {
        try IDText.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }
}

extension DatabaseError {
    /// A missing or damaged table may be the cause.
    var isOfIndex: Bool { [.SQLITE_ERROR, .SQLITE_CORRUPT].contains(resultCode.primaryResultCode) }
}

/// A whole index in a transaction.
struct IndexReader {
    let ledger: Ledger
    let number: Int64
    let shape: IndexShape
    /// The keys of records that are no candidates here.
    let excluded: Set<IDText>

    /// Calls a function with the keys of candidates: the keys of one condition, or all keys in the order of the query.
    func scan(
        _ query: CompiledQuery, wanted: Int?, few: Int, _ visit: ([IDText]) throws -> [QueryRow]
    ) throws -> String? {
        let sorted = query.order.first ?? (path: query.idPath, isDown: false)
        let walk = wanted == nil ? nil : shape.place(of: sorted.path)
        var most = walk == nil ? few : 10 * (wanted ?? 0)
        var best: (keys: Set<IDText>, path: String)?
        for (path, place, ranges) in ways(of: query) where best?.keys.isEmpty != true {
            if let keys = try keys(in: ranges, at: place, most: most) {
                most = keys.count
                best = (keys, path)
            }
        }
        if let best {
            _ = try visit(best.keys.subtracting(excluded).sorted())
            return best.path
        }
        guard let walk, let wanted else { return nil }
        return try self.walk(query, sorted: sorted, at: walk, wanted: wanted, few: few, visit) ? sorted.path.path : nil
    }

    /// The ranges of the index that contain all records which match a part of the query.
    private func ways(of query: CompiledQuery) -> [(path: String, place: Int, ranges: [KeyRange])] {
        let fields = query.conditions.compactMap { path, test -> (String, Int, [KeyRange])? in
            guard let place = shape.place(of: path), let ranges = test.ranges else { return nil }
            return (path.path, place, ranges)
        }
        guard query.searched.map(\.path).sorted() == shape.searched.map(\.path) else { return fields }
        return fields
            + query.words.map { word in
                let low = OrderKey(bytes: word)
                return ("search", IndexShape.wordPlace, [KeyRange(from: low, before: low.behindPrefixed)])
            }
    }

    /// Returns the keys of the records in some ranges; nil if they have more entries than `most`.
    private func keys(in ranges: [KeyRange], at place: Int, most: Int) throws -> Set<IDText>? {
        var keys: Set<IDText> = []
        var left = most + 1
        for range in ranges {
            let found = try ledger.keys(
                "SELECT key FROM query_entry_\(number) WHERE place = ? AND value >= ? AND value < ? LIMIT ?",
                [place, Data(range.from.bytes), Data(range.before.bytes), left])
            keys.formUnion(found)
            left -= found.count
            if left <= 0 { return nil }
        }
        return keys
    }

    /// Visits records in the order of the query until its first rows are found; false if that takes too long.
    private func walk(
        _ query: CompiledQuery, sorted: (path: FieldPath, isDown: Bool), at place: Int, wanted: Int, few: Int,
        _ visit: ([IDText]) throws -> [QueryRow]
    ) throws -> Bool {
        // Entries have the order of the query if the id decides ties in the same direction.
        let tie = query.order.dropFirst().first
        let isTieDown = tie?.path.path == "id" && tie?.isDown == true
        let isUnique = sorted.path.path == "id" || (sorted.isDown ? isTieDown : tie == nil)
        var low = OrderKey.unknown
        var high = OrderKey(bytes: [0xFF])
        for (path, test) in query.conditions where path.path == sorted.path.path {
            guard let ranges = test.ranges, ranges.count == 1 else { continue }
            (low, high) = (max(low, ranges[0].from), min(high, ranges[0].before))
        }
        if let start = query.start {
            let entry = start[0].entry(of: start[start.count - 1])
            if sorted.isDown {
                high = min(high, isUnique ? entry : start[0].behind)
            } else {
                low = max(low, isUnique ? entry : start[0])
            }
        }
        var size = wanted + 20
        var visited = 0
        while visited < few {
            let entries = try ledger.rows(
                "SELECT value, key FROM query_entry_\(number) WHERE place = ? AND value >= ? AND value < ?"
                    + " ORDER BY value \(sorted.isDown ? "DESC" : "") LIMIT ?",
                [place, Data(low.bytes), Data(high.bytes), size])
            visited += entries.count
            let rows = try visit(entries.map { $0[1] as IDText }.filter { !excluded.contains($0) })
            guard let last = entries.last, entries.count == size else { return true }
            let end = OrderKey(bytes: Array(last[0] as Data))
            if rows.count >= wanted {
                let (row, value) = (rows[wanted - 1].order[0], end.valueOfEntry)
                // Records after the last entry sort after this row.
                if (sorted.isDown ? row > value : row < value) || (isUnique && row == value) { return true }
            }
            if sorted.isDown { high = end } else { low = OrderKey(bytes: end.bytes + [0]) }
            size *= 2
        }
        return false
    }
}
