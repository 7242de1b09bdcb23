import MergeCore
import RecordStore

extension MariaDBDialect {
    func creation(of journal: JournalTables) -> [Statement] {
        [
            """
            CREATE TABLE IF NOT EXISTS \(quoted(journal.meta)) (
              name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
              value VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
              until DATETIME(6) NULL) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(journal.entries)) (
              n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
              at DATETIME(6) NOT NULL,
              who VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
              device VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
              push_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
              name BINARY(32) NULL, request BINARY(32) NULL, code SMALLINT UNSIGNED NULL,
              answer LONGBLOB NULL, address VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
              body LONGBLOB NULL, reason VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
              resource VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
              record TEXT CHARACTER SET ascii COLLATE ascii_bin NULL,
              status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
              outcomes VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
              rules VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
              entry LONGBLOB NULL,
              UNIQUE KEY push_name (name), KEY record (resource, record(150), n)) ENGINE=InnoDB
            """,
        ].map { Statement(sql: $0, binds: []) }
    }

    func size(of journal: JournalTables) -> Statement {
        Statement(
            sql: "SELECT CAST(TABLE_ROWS AS SIGNED), CAST(DATA_LENGTH + INDEX_LENGTH AS SIGNED) "
                + "FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'entries'",
            binds: [Bind(.text(ExactText(journal.schema)), JournalColumn.text.type)],
            columns: [JournalColumn.number, JournalColumn.number])
    }
}
