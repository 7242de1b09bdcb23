import MergeCore

/// Refused pushes that are sent again: each is merged once at most.
extension JournalTables {
    private static let mark = "replayed "

    /// When a refused push was sent again with success, as SQL; NULL where it was not.
    func replayed(_ number: String) -> String {
        let name =
            switch dialect {
            case .mariadb: "CONCAT('\(Self.mark)', \(number))"
            case .sqlite: "'\(Self.mark)' || \(number)"
            }
        return "(SELECT value FROM \(dialect.quoted(meta)) WHERE name = \(name))"
    }

    /// Notes that a refused push was sent again; a unique constraint refuses a second time.
    package func markReplayed(_ number: Int) -> Statement {
        let time =
            switch dialect {
            case .mariadb: "DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')"
            case .sqlite: "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
            }
        return Statement(
            sql: "INSERT INTO \(dialect.quoted(meta)) (name, value) VALUES (?, \(time))",
            binds: [Self.bind(Self.mark + String(number))])
    }

    /// Forgets the notes about pushes that are no longer kept.
    package func forgetReplays(_ numbers: [Int]) -> Statement {
        let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
        return Statement(
            sql: "DELETE FROM \(dialect.quoted(meta)) WHERE name IN (\(marks))",
            binds: numbers.map { Self.bind(Self.mark + String($0)) })
    }

    /// The answer to a push of which only some edits were merged.
    package func partialAnswer(_ number: Int) -> Statement {
        Statement(
            sql: "SELECT answer FROM \(dialect.quoted(entries)) WHERE n = ? AND code = \(Self.partial)",
            binds: [Self.bind(number)], columns: [JournalColumn.bytes])
    }
}
