package import MergeCore

/// The size of a journal, for an operator who compares two copies.
package struct JournalSummary: Sendable, Hashable {
    /// The number of rows.
    package let rows: Int
    /// The highest number of a row; 0 if there is none.
    package let last: Int
    /// The time of the newest row, in UTC; nil if there is none.
    package let newest: DateTime?
    /// The number of stored answers under keys.
    package let keys: Int
}

extension JournalTables {
    private static let copied = [
        "n", "at", "who", "device", "push_key", "name", "request", "code", "answer", "address", "body", "reason",
        "resource", "record", "status", "outcomes", "rules", "entry",
    ]

    private static let copiedColumns: [Column] = copied.map { name in
        switch name {
        case "n", "code": JournalColumn.number
        case "at": JournalColumn.time
        case "name", "request", "answer", "body", "entry": JournalColumn.bytes
        default: JournalColumn.text
        }
    }

    /// The statement that reads the size of the journal.
    package var summary: Statement {
        let signed = dialect.wholeNumberType
        return Statement(
            sql: "SELECT CAST(COUNT(*) AS \(signed)), CAST(COALESCE(MAX(n), 0) AS \(signed)), MAX(at), "
                + "CAST(COUNT(name) AS \(signed)) FROM \(dialect.quoted(entries))",
            binds: [],
            columns: [JournalColumn.number, JournalColumn.number, JournalColumn.time, JournalColumn.number])
    }

    /// Decodes the row of `summary`.
    package func summary(_ row: [Value]?) -> JournalSummary? {
        guard let row, row.count == 4, case .integer(let rows) = row[0], case .integer(let last) = row[1],
            case .integer(let keys) = row[3]
        else { return nil }
        var newest: DateTime?
        if case .dateTime(let time) = row[2] { newest = time }
        return JournalSummary(
            rows: Int(clamping: rows), last: Int(clamping: last), newest: newest, keys: Int(clamping: keys))
    }

    /// Returns the name of the value that contains the last entry of the backup, for one newer journal.
    private static func backup(_ newer: JournalSummary) -> String { "backup \(newer.last)" }

    /// Returns the statement that stores the last entry of the backup; an existing value stays unchanged.
    package func note(lastOfBackup number: Int, before newer: JournalSummary) -> Statement {
        setMeta(Self.backup(newer), String(number))
    }

    /// Returns the statement that reads the stored last entry of the backup.
    package func lastOfBackup(before newer: JournalSummary) -> Statement { meta(Self.backup(newer)) }

    /// Returns the statement that reads complete rows after a number, to copy them into another journal.
    package func copies(after number: Int, limit: Int) -> Statement {
        Statement(
            sql: "SELECT \(Self.copied.joined(separator: ", ")) FROM \(dialect.quoted(entries)) "
                + "WHERE n > ? ORDER BY n LIMIT ?",
            binds: [Self.bind(number), Self.bind(limit)], columns: Self.copiedColumns)
    }

    /// Returns the number of a row of `copies`; nil if it is damaged.
    package func number(ofCopy row: [Value]) -> Int? {
        guard case .integer(let number)? = row.first else { return nil }
        return Int(clamping: number)
    }

    /// Returns the name of the key of a row of `copies`; nil if it has none.
    package func keyName(ofCopy row: [Value]) -> [UInt8]? {
        guard row.count == Self.copied.count, case .bytes(let name) = row[5] else { return nil }
        return name
    }

    /// Returns the statement that inserts a row of `copies`.
    ///
    /// - Parameter keepsNumber: if false, the row gets a new number.
    package func insert(copy row: [Value], keepsNumber: Bool) -> Statement {
        let start = keepsNumber ? 0 : 1
        var binds: [Bind] = []
        for (value, column) in zip(row, Self.copiedColumns).dropFirst(start) {
            if case .dateTime(let time) = value {
                binds.append(Self.bind(time.text(separator: " ", fraction: dialect.nowFraction)))
            } else {
                binds.append(Bind(value, column.type))
            }
        }
        let names = Self.copied.dropFirst(start)
        let marks = repeatElement("?", count: names.count).joined(separator: ", ")
        return Statement(
            sql: "INSERT INTO \(dialect.quoted(entries)) (\(names.joined(separator: ", "))) VALUES (\(marks))",
            binds: binds)
    }

    /// Returns the statement that reads the numbers and times of rows up to a number, the newest first.
    package func times(upTo number: Int, limit: Int) -> Statement {
        Statement(
            sql: "SELECT n, at FROM \(dialect.quoted(entries)) WHERE n <= ? ORDER BY n DESC LIMIT ?",
            binds: [Self.bind(number), Self.bind(limit)], columns: [JournalColumn.number, JournalColumn.time])
    }
}
