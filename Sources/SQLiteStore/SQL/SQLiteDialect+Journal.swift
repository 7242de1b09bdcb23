import RecordStore

extension SQLiteDialect {
    func creation(of journal: JournalTables) -> [Statement] {
        let (entries, meta, schema) = (quoted(journal.entries), quoted(journal.meta), quoted(journal.schema))
        return [
            "CREATE TABLE IF NOT EXISTS \(meta) (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, until TEXT)",
            """
            CREATE TABLE IF NOT EXISTS \(entries) (
              n INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL, device TEXT,
              push_key TEXT, name BLOB, request BLOB, code INTEGER, answer BLOB, address TEXT, body BLOB,
              reason TEXT, resource TEXT, record TEXT, status TEXT, outcomes TEXT, rules TEXT, entry BLOB)
            """,
            "CREATE UNIQUE INDEX IF NOT EXISTS \(schema).push_name ON entries (name)",
            "CREATE INDEX IF NOT EXISTS \(schema).record ON entries (resource, record, n)",
        ].map { Statement(sql: $0, binds: []) }
    }

    func size(of journal: JournalTables) -> Statement {
        let schema = Self.text(journal.schema)
        return Statement(
            sql: "SELECT (SELECT COALESCE(MAX(n) - MIN(n) + 1, 0) FROM \(quoted(journal.entries))), "
                + "(SELECT page_count FROM pragma_page_count(\(schema))) * (SELECT page_size FROM "
                + "pragma_page_size(\(schema)))",
            binds: [], columns: [JournalColumn.number, JournalColumn.number])
    }
}
