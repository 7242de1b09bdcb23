internal import Crypto
import MergeCore
import RecordStore

extension MariaDBDialect {
    func creation(of feed: FeedTables) -> [Statement] {
        (creationOfChanges(in: feed) + creationOfScan(in: feed)).map { Statement(sql: $0, binds: []) }
    }

    private static let gatewayName = "VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin"
    private static let name = "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

    private func creationOfChanges(in feed: FeedTables) -> [String] {
        let (gatewayName, name) = (Self.gatewayName, Self.name)
        return [
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.feed)) (
              one TINYINT UNSIGNED NOT NULL PRIMARY KEY, id \(gatewayName) NOT NULL,
              epoch SMALLINT UNSIGNED NOT NULL, last BIGINT UNSIGNED NOT NULL, oldest BIGINT UNSIGNED NOT NULL,
              holder \(gatewayName) NULL, until DATETIME(6) NULL) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.pending)) (
              n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, first BIGINT UNSIGNED NOT NULL,
              step SMALLINT UNSIGNED NOT NULL, token \(gatewayName) NULL, records LONGBLOB NOT NULL,
              conditions LONGBLOB NULL) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.changes)) (
              name BINARY(16) NOT NULL PRIMARY KEY,
              resource VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
              record TEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL, revision BIGINT UNSIGNED NOT NULL,
              entry BIGINT UNSIGNED NULL, who \(name) NULL, device \(name) NULL, at DATETIME(6) NOT NULL,
              conditions LONGBLOB NULL, UNIQUE KEY revision (revision)) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.departures)) (
              revision BIGINT UNSIGNED NOT NULL PRIMARY KEY, name BINARY(16) NOT NULL, entry BIGINT UNSIGNED NULL,
              who \(name) NULL, device \(name) NULL) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.gateways)) (
              id \(gatewayName) NOT NULL PRIMARY KEY, confirmed BIGINT UNSIGNED NOT NULL, at DATETIME(6) NOT NULL)
              ENGINE=InnoDB
            """,
        ]
    }

    private func creationOfScan(in feed: FeedTables) -> [String] {
        let (gatewayName, name) = (Self.gatewayName, Self.name)
        return [
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.scan)) (
              one TINYINT UNSIGNED NOT NULL PRIMARY KEY, holder \(gatewayName) NULL, term BIGINT UNSIGNED NOT NULL,
              until DATETIME(6) NULL, noticed BIGINT UNSIGNED NULL, cycle BIGINT UNSIGNED NULL,
              speed BIGINT UNSIGNED NULL) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.scanUnits)) (
              id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
              resource VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, section \(name) NOT NULL,
              scanned BIGINT UNSIGNED NOT NULL, since DATETIME(6) NULL, UNIQUE KEY name (resource, section))
              ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.scanRanges)) (
              unit BIGINT UNSIGNED NOT NULL, id BIGINT UNSIGNED NOT NULL, follower BIGINT UNSIGNED NULL,
              high LONGBLOB NULL, size INT UNSIGNED NOT NULL, digest BIGINT NOT NULL, marks LONGBLOB NOT NULL,
              PRIMARY KEY (unit, id)) ENGINE=InnoDB
            """,
            """
            CREATE TABLE IF NOT EXISTS \(quoted(feed.shown)) (
              n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
              resource VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, section \(name) NOT NULL,
              revision BIGINT UNSIGNED NOT NULL, at DATETIME(6) NOT NULL, records LONGBLOB NOT NULL,
              KEY name (resource, section, n)) ENGINE=InnoDB
            """,
        ]
    }

    /// Half of SHA-256, because a record's key may be longer than a table's key; a collision is not feasible.
    ///
    /// The database would take ten times as long.
    func digest(of name: RecordName) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.resource.utf8.count + 1 + name.record.utf8.count)
        bytes += name.resource.utf8
        bytes.append(UInt8(ascii: "/"))
        bytes += name.record.utf8
        return SHA256.hash(data: bytes).withUnsafeBytes { Array($0.prefix(16)) }
    }

    func changesNamed(_ count: Int) -> String {
        "name IN (" + repeatElement("?", count: count).joined(separator: ", ") + ")"
    }

    func insert(departures: Int, in feed: FeedTables) -> String {
        "INSERT INTO \(quoted(feed.departures)) (revision, name, entry, who, device) VALUES "
            + repeatElement("(?, ?, ?, ?, ?)", count: departures).joined(separator: ", ")
    }

    var isOfChange: String { "c.name = d.name" }

    /// Only MariaDB reports the current value; the value of MySQL may be a day old.
    func lastWrite(to table: TableName) -> Statement? {
        let schema = table.schema.map { Bind(.text(ExactText($0)), JournalColumn.text.type) }
        return Statement(
            sql: "SELECT IF(VERSION() LIKE '%MariaDB%', UNIX_TIMESTAMP(UPDATE_TIME), NULL), UNIX_TIMESTAMP() "
                + "FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + (schema == nil ? "DATABASE()" : "?")
                + " AND TABLE_NAME = ? AND TABLE_TYPE = 'BASE TABLE'",
            binds: (schema.map { [$0] } ?? []) + [Bind(.text(ExactText(table.name)), JournalColumn.text.type)],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    var fileVersion: Statement? { nil }

    func upsert(changes: Int, in feed: FeedTables) -> String {
        let row = "(?, ?, ?, ?, ?, ?, ?, \(now), ?)"
        return
            "INSERT INTO \(quoted(feed.changes)) (resource, record, name, revision, entry, who, device, at, conditions) VALUES "
            + repeatElement(row, count: changes).joined(separator: ", ")
            + " ON DUPLICATE KEY UPDATE revision = VALUES(revision), entry = VALUES(entry), who = VALUES(who), "
            + "device = VALUES(device), at = VALUES(at), conditions = COALESCE(VALUES(conditions), conditions)"
    }

    func estimate(of table: TableName) -> Statement? {
        let schema = table.schema.map { Bind(.text(ExactText($0)), JournalColumn.text.type) }
        return Statement(
            sql: "SELECT CAST(TABLE_ROWS AS SIGNED) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                + (schema == nil ? "DATABASE()" : "?") + " AND TABLE_NAME = ? AND TABLE_TYPE = 'BASE TABLE'",
            binds: (schema.map { [$0] } ?? []) + [Bind(.text(ExactText(table.name)), JournalColumn.text.type)],
            columns: [JournalColumn.number])
    }
}
