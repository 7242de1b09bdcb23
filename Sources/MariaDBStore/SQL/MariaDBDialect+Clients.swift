import MergeCore
import RecordStore

extension MariaDBDialect {
    func creation(ofClients table: TableName) -> Statement {
        let name = "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        return Statement(
            sql: """
                CREATE TABLE IF NOT EXISTS \(quoted(table)) (
                  who \(name) NOT NULL, device \(name) NOT NULL, program \(name) NULL, seen DATETIME(6) NOT NULL,
                  feed VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL, revision BIGINT UNSIGNED NULL,
                  PRIMARY KEY (who, device)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC
                """,
            binds: [])
    }

    func upsert(clients: Int, in table: TableName) -> String {
        "INSERT INTO \(quoted(table)) (who, device, program, seen, feed, revision) VALUES "
            + repeatElement("(?, ?, ?, \(now), ?, ?)", count: clients).joined(separator: ", ")
            + " ON DUPLICATE KEY UPDATE program = COALESCE(VALUES(program), program), seen = VALUES(seen), "
            + "feed = COALESCE(VALUES(feed), feed), revision = COALESCE(VALUES(revision), revision)"
    }
}
