package import MergeCore

/// The entries of one minute.
package struct MinuteCounts: Sendable, Hashable {
    /// The minute in UTC, such as `2026-11-27 10:00`.
    package let minute: String
    /// The number of entries of records.
    package var entries: Int
    /// The number of entries with a conflict.
    package var conflicts: Int
    /// The number of refused pushes.
    package var refused: Int
}

extension JournalTables {
    private static let minuteLength = 16

    /// The statement that reads the database's time in UTC.
    package var currentTime: Statement {
        Statement(sql: "SELECT \(dialect.now)", binds: [], columns: [JournalColumn.time])
    }

    /// Returns the statement that checks if the first row from a number on is of a time or later.
    package func isSince(_ time: DateTime, from number: Int) -> Statement {
        Statement(
            sql: "SELECT at >= ? FROM \(dialect.quoted(entries)) WHERE n >= ? ORDER BY n LIMIT 1",
            binds: [bind(time), Self.bind(number)], columns: [JournalColumn.number])
    }

    /// Returns the statement that counts the entries of each minute; it counts no deletion as a conflict.
    package func minutes(since time: DateTime, _ numbers: ClosedRange<Int>) -> Statement {
        func sum(_ condition: String) -> String {
            "CAST(SUM(CASE WHEN \(condition) THEN 1 ELSE 0 END) AS \(dialect.wholeNumberType))"
        }
        return Statement(
            sql: "SELECT SUBSTR(at, 1, \(Self.minuteLength)) AS minute, \(sum("resource IS NOT NULL")), "
                + "\(sum(hasCertainConflict)), \(sum("body IS NOT NULL")) FROM \(dialect.quoted(entries)) "
                + "WHERE n BETWEEN ? AND ? AND at >= ? GROUP BY minute ORDER BY minute",
            binds: [Self.bind(numbers.lowerBound), Self.bind(numbers.upperBound), bind(time)],
            columns: [JournalColumn.text] + Array(repeating: JournalColumn.number, count: 3))
    }

    /// Decodes a row of `minutes`.
    package func minute(_ row: [Value]) -> MinuteCounts? {
        guard row.count == 4, case .text(let minute) = row[0], case .integer(let entries) = row[1],
            case .integer(let conflicts) = row[2], case .integer(let refused) = row[3]
        else { return nil }
        return MinuteCounts(
            minute: minute.string, entries: Int(clamping: entries), conflicts: Int(clamping: conflicts),
            refused: Int(clamping: refused))
    }

    /// Returns the statement that reads entries with a deletion, which alone may be a conflict.
    package func deletions(since time: DateTime, _ numbers: ClosedRange<Int>, limit: Int) -> Statement {
        Statement(
            sql: "SELECT SUBSTR(at, 1, \(Self.minuteLength)), entry FROM \(dialect.quoted(entries)) "
                + "WHERE n BETWEEN ? AND ? AND at >= ? AND outcomes LIKE '%,\(OutcomeKind.deleted.rawValue),%' "
                + "AND NOT (\(hasCertainConflict)) ORDER BY n DESC LIMIT ?",
            binds: [
                Self.bind(numbers.lowerBound), Self.bind(numbers.upperBound), bind(time), Self.bind(limit),
            ], columns: [JournalColumn.text, JournalColumn.bytes])
    }

    /// Decodes a row of `deletions`.
    package func deletion(_ row: [Value]) -> (minute: String, entry: [UInt8])? {
        guard row.count == 2, case .text(let minute) = row[0], case .bytes(let entry) = row[1] else { return nil }
        return (minute.string, PackedBytes.unpack(entry))
    }

    private func bind(_ time: DateTime) -> Bind {
        Self.bind(time.text(separator: " ", fraction: dialect.nowFraction))
    }

    private var hasCertainConflict: String {
        condition(OutcomeKind.allCases.filter { $0.mayBeConflict && $0 != .deleted })
    }

    /// The condition of an entry with an outcome that may be a conflict.
    var mayHaveConflict: String { condition(OutcomeKind.allCases.filter(\.mayBeConflict)) }

    private func condition(_ kinds: [OutcomeKind]) -> String {
        "(" + kinds.map { "outcomes LIKE '%,\($0.rawValue),%'" }.joined(separator: " OR ") + ")"
    }
}
