import MergeCore
import RecordStore

extension SQLiteDialect {
    func creation(ofClients table: TableName) -> Statement {
        Statement(
            sql: """
                CREATE TABLE IF NOT EXISTS \(quoted(table)) (
                  who TEXT NOT NULL, device TEXT NOT NULL, program TEXT, seen TEXT NOT NULL, feed TEXT, revision INTEGER,
                  PRIMARY KEY (who, device)) WITHOUT ROWID
                """,
            binds: [])
    }

    func upsert(clients: Int, in table: TableName) -> String {
        "INSERT INTO \(quoted(table)) (who, device, program, seen, feed, revision) VALUES "
            + repeatElement("(?, ?, ?, \(now), ?, ?)", count: clients).joined(separator: ", ")
            + " ON CONFLICT (who, device) DO UPDATE SET program = COALESCE(excluded.program, program), "
            + "seen = excluded.seen, feed = COALESCE(excluded.feed, feed), "
            + "revision = COALESCE(excluded.revision, revision)"
    }
}
