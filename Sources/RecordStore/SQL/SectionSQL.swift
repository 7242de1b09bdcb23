package import MergeCore
import Synchronization

/// Builds the statements that read and write the rows of one section.
package struct SectionSQL: Sendable {
    let section: Section
    let dialect: any Dialect
    private let selectFrom: String
    /// Reads like `selectFrom`, and locks referred rows against writes of other transactions.
    private let selectSharing: String
    /// The condition that hides rows which do not exist for clients; empty if there are none.
    private let visible: String
    private let listOrder: String
    private let texts = StatementTexts()

    /// The sizes to which `IN` lists are padded, so that few statements are prepared.
    package static let batchSizes = [1, 2, 4, 8, 16, 32, 64, 128]
    /// The highest number of rows that one statement names.
    package static let maximumBatch = 128

    private struct Kept {
        /// Keeps the object identifier from being reused by another section.
        let section: Section
        let sql: SectionSQL
    }

    private static let kept = Mutex<[ObjectIdentifier: Kept]>([:])
    private static let maximumKept = 4_096

    /// Returns the statements of a section, which are built once.
    package static func of(_ section: Section, _ dialect: any Dialect) -> SectionSQL {
        let id = ObjectIdentifier(section)
        if let known = kept.withLock({ $0[id]?.sql }), known.dialect.name == dialect.name { return known }
        let made = SectionSQL(section, dialect)
        kept.withLock { kept in
            // Reloaded rules bring new sections. Clearing the cache now and then is cheaper than counting uses.
            if kept.count >= maximumKept { kept.removeAll() }
            kept[id] = Kept(section: section, sql: made)
        }
        return made
    }

    private init(_ section: Section, _ dialect: any Dialect) {
        self.section = section
        self.dialect = dialect
        let names = [false, true].map { isShared in
            section.columns.map { dialect.reading($0, of: section.table, isShared: isShared) }.joined(separator: ", ")
        }
        let order = section.order + (0..<section.keyCount).filter { !section.order.contains($0) }
        listOrder =
            order.isEmpty
            ? ""
            : " ORDER BY " + order.map { dialect.quoted(section.columns[$0].name) }.joined(separator: ", ")
        selectFrom = "SELECT \(names[0]) FROM \(dialect.quoted(section.table)) WHERE "
        selectSharing = "SELECT \(names[1]) FROM \(dialect.quoted(section.table)) WHERE "
        visible = section.visibility.map { Self.enclosed($0.value) + " AND " } ?? ""
    }

    /// Returns the statement that reads the rows whose columns equal one of the tuples.
    ///
    /// The database compares by collation and padding, so the statement only preselects rows. `RecordReader.rows`
    /// returns the exact matches.
    ///
    /// - Parameters:
    ///   - isOrdered: sorts the rows in the list's order, which a locking read does not need.
    ///   - includesHidden: includes rows that do not exist for clients.
    ///   - waits: waits for locked rows; else the statement fails.
    ///   - sharesReferred: locks referred rows, whose columns the section reads, against writes.
    package func select(
        where columns: [Int], in tuples: [[Value]], locking: Bool, isOrdered: Bool = false, limit: Int? = nil,
        includesHidden: Bool = false, waits: Bool = true, sharesReferred: Bool = false
    ) -> Statement {
        let size = Self.paddedSize(tuples.count)
        let sharesReferred = sharesReferred && section.hasLookups
        var binds = binds(columns, tuples: tuples, size: size)
        let shape = StatementTexts.Shape.select(
            columns, size, locking, waits, isOrdered && section.kind == .list, limit != nil, includesHidden,
            sharesReferred)
        let sql = texts.text(shape) {
            (sharesReferred ? selectSharing : selectFrom) + (includesHidden ? "" : visible) + condition(columns, size)
                + (isOrdered && section.kind == .list ? listOrder : "") + (limit != nil ? " LIMIT ?" : "")
                + (locking ? waits ? dialect.lockingClause : dialect.impatientLockingClause : "")
        }
        if let limit { binds.append(Self.count(limit)) }
        return Statement(sql: sql, binds: binds, columns: section.columns)
    }

    private static func paddedSize(_ count: Int) -> Int { batchSizes.first { $0 >= count } ?? count }

    /// Encloses the operator's SQL in parentheses; the line break ends a comment at its end.
    private static func enclosed(_ sql: String) -> String { "(" + sql + "\n)" }

    /// Returns the values of the tuples, padded to a size by repeating the last tuple.
    private func binds(_ columns: [Int], tuples: [[Value]], size: Int) -> [Bind] {
        var binds: [Bind] = []
        binds.reserveCapacity(size * columns.count + 1)
        for index in 0..<size {
            let tuple = tuples[min(index, tuples.count - 1)]
            for (column, value) in zip(columns, tuple) { binds.append(Bind(value, section.columns[column].type)) }
        }
        return binds
    }

    /// Returns the condition that the columns equal one of a number of tuples.
    private func condition(_ columns: [Int], _ size: Int) -> String {
        let names = columns.map { dialect.quoted(section.columns[$0].name) }
        if names.count == 1 {
            return size == 1
                ? names[0] + " = ?"
                : names[0] + " IN (" + repeatElement("?", count: size).joined(separator: ",") + ")"
        }
        // A disjunction of keys uses the index in both engines; row values do not in MariaDB.
        let one = "(" + names.map { $0 + " = ?" }.joined(separator: " AND ") + ")"
        let any = repeatElement(one, count: size).joined(separator: " OR ")
        return size == 1 ? any : "(" + any + ")"
    }

    /// Returns the statement that reads the rows among the tuples that fail a check; NULL passes the check.
    ///
    /// - Returns: a statement whose rows contain only `columns`.
    package func failing(_ check: RowCheck, where columns: [Int], in tuples: [[Value]]) -> Statement {
        violating("NOT " + Self.enclosed(check.sql), columns: columns, tuples: tuples)
    }

    /// Returns the statement that reads the rows among the tuples that do not exist for clients; nil if all rows exist.
    ///
    /// - Parameter locking: reads the current rows; a plain read returns those of the snapshot.
    package func hidden(where columns: [Int], in tuples: [[Value]], locking: Bool = false) -> Statement? {
        section.visibility.map {
            violating(Self.enclosed($0.value) + " IS NOT TRUE", columns: columns, tuples: tuples, locking: locking)
        }
    }

    /// Returns the statement that reads the frozen rows among the tuples; nil if the section has no `frozen-when`.
    ///
    /// - Parameter locking: reads the current rows; a plain read returns those of the snapshot.
    package func frozen(where columns: [Int], in tuples: [[Value]], locking: Bool) -> Statement? {
        section.frozenWhen.map {
            violating(Self.enclosed($0.value) + " IS TRUE", columns: columns, tuples: tuples, locking: locking)
        }
    }

    private func violating(
        _ clause: String, columns: [Int], tuples: [[Value]], locking: Bool = false
    ) -> Statement {
        let names = columns.map { dialect.quoted(section.columns[$0].name) }.joined(separator: ", ")
        let size = Self.paddedSize(tuples.count)
        return Statement(
            sql:
                "SELECT \(names) FROM \(dialect.quoted(section.table)) WHERE \(condition(columns, size)) AND \(clause)"
                + (locking ? dialect.lockingClause : ""),
            binds: binds(columns, tuples: tuples, size: size), columns: columns.map { section.columns[$0] })
    }

    /// Returns a statement that prepares only if the operator's SQL is valid; it returns no row.
    package func probe(_ sql: String) -> Statement {
        let column = Column(name: "probe", type: .integer(0...1), isNullable: true)
        return Statement(
            sql: "SELECT 1 FROM \(dialect.quoted(section.table)) WHERE \(Self.enclosed(sql)) IS TRUE AND 1 = 0",
            binds: [],
            columns: [column])
    }

    /// Returns a statement that has a row if `where` hides every row with this value, whatever its other columns contain;
    /// nil if `where` does not test the column.
    ///
    /// The other columns are NULL, so only the value can make the condition false. A condition that is false without the
    /// value too shows nothing.
    ///
    /// - Parameter names: all columns of the table.
    package func hiding(_ value: Value, in column: Int, among names: [String]) -> Statement? {
        guard let clause = section.visibility?.value else { return nil }
        let own = section.columns[column]
        let tested = names.filter { SQLWords.mention($0, in: clause) }
        guard tested.contains(own.name) else { return nil }
        let table = dialect.quoted(TableName(name: section.table.name))
        func row(_ content: String) -> String {
            let none =
                "SELECT \(tested.map(dialect.quoted).joined(separator: ", ")) FROM \(dialect.quoted(section.table)) WHERE 1 = 0"
            let one = tested.map { $0 == own.name ? content : "NULL" }.joined(separator: ", ")
            return
                "(SELECT 1 FROM (\(none) UNION ALL SELECT \(one)) AS \(table) WHERE \(Self.enclosed(clause)) IS FALSE)"
        }
        return Statement(
            sql: "SELECT 1 FROM (SELECT 1 AS probe) AS probe WHERE EXISTS \(row("?")) AND NOT EXISTS \(row("NULL"))",
            binds: [Bind(value, own.type)], columns: [Column(name: "probe", type: .integer(0...1), isNullable: true)])
    }

    /// The statement that reads no row but has the metadata of every read.
    package var empty: Statement { Statement(sql: selectFrom + "1 = 0", binds: [], columns: section.columns) }

    /// The statement that writes no row but still fails on a read-only database.
    package var emptyUpdate: Statement {
        let name = dialect.quoted(section.columns[0].name)
        return Statement(sql: "UPDATE \(dialect.quoted(section.table)) SET \(name) = \(name) WHERE 1 = 0", binds: [])
    }

    private static func count(_ number: Int) -> Bind {
        Bind(.integer(Int128(number)), .integer(0...Int128(Int64.max)))
    }

    /// Returns the statement that reads the next rows in key order.
    ///
    /// - Parameter filter: the rows that a client may see; nil for all.
    package func page(after key: RecordKey?, limit: Int, showing filter: RowFilter? = nil) -> Statement {
        let names = section.columns.prefix(section.keyCount).map { dialect.quoted($0.name) }
        var conditions: [String] = []
        var binds: [Bind] = []
        if let key {
            // (a, b) > (x, y) spelled out, so that both engines use an index.
            for last in 0..<names.count {
                var parts: [String] = []
                for index in 0...last {
                    parts.append(names[index] + (index == last ? " > ?" : " = ?"))
                    let type = section.columns[index].type
                    binds.append(
                        index == last ? Bind(orderOf: key.parts[index], type) : Bind(key.parts[index], type))
                }
                conditions.append("(" + parts.joined(separator: " AND ") + ")")
            }
        }
        let shown = filter.map { condition($0) }
        binds += shown?.binds ?? []
        let sql =
            selectFrom + visible
            + (conditions.isEmpty ? "1 = 1" : "(" + conditions.joined(separator: " OR ") + ")")
            + (shown.map { " AND " + $0.sql } ?? "") + " ORDER BY " + names.joined(separator: ", ") + " LIMIT ?"
        binds.append(Self.count(limit))
        return Statement(sql: sql, binds: binds, columns: section.columns)
    }

    /// Returns the statement that reads the rows between two keys in key order, for a scan.
    ///
    /// - Parameters:
    ///   - columns: positions of the key columns.
    ///   - low: the excluded lower bound; nil for the start.
    ///   - high: the included upper bound; nil for the end of the table.
    package func rows(
        by columns: [Int], after low: RecordKey?, upTo high: RecordKey?, limit: Int, isReversed: Bool = false
    ) -> Statement {
        var binds: [Bind] = []
        var conditions: [String] = []
        for (key, mark) in [(low, ">"), (high, "<")] {
            guard let key else { continue }
            var parts: [String] = []
            for last in columns.indices {
                var equal: [String] = []
                for index in 0...last {
                    let column = section.columns[columns[index]]
                    // The range includes its last row.
                    let isEnd = index == last && index == columns.count - 1 && mark == "<"
                    equal.append(
                        dialect.quoted(column.name) + (index < last ? " = ?" : isEnd ? " <= ?" : " \(mark) ?"))
                    let part = key.parts[index]
                    binds.append(index < last ? Bind(part, column.type) : Bind(orderOf: part, column.type))
                }
                parts.append("(" + equal.joined(separator: " AND ") + ")")
            }
            conditions.append("(" + parts.joined(separator: " OR ") + ")")
        }
        // A row without a parent belongs to no record.
        for column in columns where section.columns[column].isNullable {
            conditions.append(dialect.quoted(section.columns[column].name) + " IS NOT NULL")
        }
        binds.append(Self.count(limit))
        return Statement(
            sql: selectFrom + visible + (conditions.isEmpty ? "1 = 1" : conditions.joined(separator: " AND "))
                + " ORDER BY "
                + columns.map { dialect.quoted(section.columns[$0].name) + (isReversed ? " DESC" : "") }
                .joined(separator: ", ") + " LIMIT ?",
            binds: binds, columns: section.columns)
    }

    /// Returns the statement that reads a page of rows without a key, in the order of all columns.
    package func page(offset: Int, limit: Int) -> Statement {
        let order = section.columns.filter { $0.lookup == nil }.map { dialect.quoted($0.name) }
            .joined(separator: ", ")
        return Statement(
            sql: selectFrom + visible + "1 = 1 ORDER BY " + order + " LIMIT ? OFFSET ?",
            binds: [Self.count(limit), Self.count(offset)], columns: section.columns)
    }

    /// The statement that counts the rows that exist for clients.
    package var count: Statement {
        Statement(
            sql: "SELECT COUNT(*) FROM " + dialect.quoted(section.table) + " WHERE " + visible + "1 = 1", binds: [],
            columns: [JournalColumn.number])
    }

    /// Returns the statement that counts the rows that exist for clients, up to a limit.
    package func count(atMost limit: Int) -> Statement {
        Statement(
            sql: "SELECT COUNT(*) FROM (SELECT 1 FROM " + dialect.quoted(section.table) + " WHERE " + visible
                + "1 = 1 LIMIT ?) AS counted", binds: [Self.count(limit)], columns: [JournalColumn.number])
    }

    /// Returns the statement that counts the rows that one client may see, up to a limit.
    package func count(showing filter: RowFilter, atMost limit: Int) -> Statement {
        let shown = condition(filter)
        return Statement(
            sql: "SELECT COUNT(*) FROM (SELECT 1 FROM " + dialect.quoted(section.table) + " WHERE " + visible
                + shown.sql + " LIMIT ?) AS shown", binds: shown.binds + [Self.count(limit)],
            columns: [JournalColumn.number])
    }

    /// Returns the statement that reads and locks the highest value of the last key column among the rows whose other
    /// key columns have these values, also of rows that do not exist for clients.
    package func highestNumber(within others: [Value]) -> Statement {
        let column = section.columns[section.keyCount - 1]
        let key = others.enumerated().map { Assignment(column: $0, value: $1) }
        return Statement(
            sql: "SELECT \(dialect.reading(column, of: section.table)) FROM " + dialect.quoted(section.table)
                + whereAll(key) + " ORDER BY \(dialect.quoted(column.name)) DESC LIMIT 1" + dialect.lockingClause,
            binds: binds(key), columns: [column])
    }

    /// Returns the statement that inserts a row.
    ///
    /// - Parameter extras: columns outside the section; assigned columns are ignored.
    package func insert(_ assignments: [Assignment], extras: [RawValue] = []) -> Statement {
        let named = assignments.map { section.columns[$0.column].name }
        let others = extras.filter { !named.contains($0.column.name) }
        return RawSQL(dialect).insert(
            into: section.table, named + others.map(\.column.name),
            binds(assignments) + others.map { Bind($0.value, $0.column.type) })
    }

    /// Returns the statement that updates the row of a key.
    package func update(_ assignments: [Assignment], key: [Assignment]) -> Statement {
        let sql = texts.text(.update(assignments.map(\.column), key.map(\.column), 1)) {
            let names = assignments.map { dialect.quoted(section.columns[$0.column].name) + " = ?" }
            return "UPDATE " + dialect.quoted(section.table) + " SET " + names.joined(separator: ", ") + whereAll(key)
        }
        return Statement(sql: sql, binds: binds(assignments) + binds(key), mostRows: mostRows(1))
    }

    /// Returns the value of `Statement.mostRows`; nil if the section has no key.
    private func mostRows(_ count: Int) -> Int? { section.keyCount > 0 ? count : nil }

    /// One row of an UPDATE of many rows.
    package struct Change {
        /// The columns that name the row.
        package let key: [Assignment]
        /// The columns to write.
        package let assignments: [Assignment]

        /// Makes the change of one row.
        package init(key: [Assignment], assignments: [Assignment]) {
            self.key = key
            self.assignments = assignments
        }
    }

    /// Returns the statement that updates the same columns of many rows; each column is a CASE over the keys.
    ///
    /// - Parameter changes: rows of different keys, all with the same columns in the same order.
    package func update(_ changes: [Change]) -> Statement? {
        guard let first = changes.first, let last = changes.last else { return nil }
        if changes.count == 1 { return update(first.assignments, key: first.key) }
        let columns = first.assignments.map(\.column)
        let keys = first.key.map(\.column)
        let size = Self.paddedSize(changes.count)
        let sql = texts.text(.update(columns, keys, size)) {
            let names = keys.map { dialect.quoted(section.columns[$0].name) }
            let head = names.count == 1 ? "CASE " + names[0] : "CASE"
            let one =
                names.count == 1
                ? " WHEN ? THEN ?" : " WHEN " + names.map { $0 + " = ?" }.joined(separator: " AND ") + " THEN ?"
            let all = head + String(repeating: one, count: size) + " END"
            let sets = columns.map { dialect.quoted(section.columns[$0].name) + " = " + all }
            return "UPDATE " + dialect.quoted(section.table) + " SET " + sets.joined(separator: ", ") + " WHERE "
                + condition(keys, size)
        }
        var binds: [Bind] = []
        binds.reserveCapacity(size * (columns.count * (keys.count + 1) + keys.count))
        func row(_ index: Int) -> Change { index < changes.count ? changes[index] : last }
        for position in columns.indices {
            for index in 0..<size {
                let change = row(index)
                for part in change.key { binds.append(bind(part)) }
                binds.append(bind(change.assignments[position]))
            }
        }
        for index in 0..<size {
            for part in row(index).key { binds.append(bind(part)) }
        }
        return Statement(sql: sql, binds: binds, mostRows: mostRows(changes.count))
    }

    /// Returns the statement that deletes the row of a key, or a record's rows that have no key.
    package func delete(key: [Assignment], mostRows: Int = 1) -> Statement {
        Statement(
            sql: "DELETE FROM " + dialect.quoted(section.table) + whereAll(key), binds: binds(key), mostRows: mostRows)
    }

    /// Returns the UPDATE that replaces a DELETE if the section has `delete.set`.
    ///
    /// - Parameter stamps: further columns to write.
    package func softDelete(
        _ assignments: [SQLAssignment], stamps: [Assignment] = [], key: [Assignment], mostRows: Int = 1
    ) -> Statement {
        let sets =
            assignments.map { dialect.quoted($0.column) + " = " + Self.enclosed($0.sql) }
            + stamps.map { dialect.quoted(section.columns[$0.column].name) + " = ?" }
        return Statement(
            sql: "UPDATE " + dialect.quoted(section.table) + " SET " + sets.joined(separator: ", ") + whereAll(key),
            binds: binds(stamps) + binds(key), mostRows: mostRows)
    }

    private func whereAll(_ key: [Assignment]) -> String {
        " WHERE " + key.map { dialect.quoted(section.columns[$0.column].name) + " = ?" }.joined(separator: " AND ")
    }

    private func bind(_ assignment: Assignment) -> Bind {
        Bind(assignment.value, section.columns[assignment.column].type)
    }

    private func binds(_ assignments: [Assignment]) -> [Bind] { assignments.map(bind) }
}
