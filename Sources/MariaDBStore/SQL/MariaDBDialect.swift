import MergeCore
import RecordStore

struct MariaDBDialect: Dialect {
    var name: String { "mariadb" }
    var quotationMark: Character { "`" }
    func violation(of key: ForeignKey) -> ConstraintViolation {
        ConstraintViolation(.foreignKey, name: key.name, columns: key.columns)
    }

    var lockingClause: String { " FOR UPDATE" }

    /// Both columns of a foreign key have the same collation.
    func comparing(under collation: Collation?) -> String { "" }
    var impatientLockingClause: String { " FOR UPDATE NOWAIT" }
    var sharedLockingClause: String { " LOCK IN SHARE MODE" }

    func isExactly(_ first: String, _ second: String) -> String {
        "CAST(CONVERT(\(first) USING utf8mb4) AS BINARY) = CAST(CONVERT(\(second) USING utf8mb4) AS BINARY)"
    }

    /// MariaDB returns a BIT of a subquery as its decimal digits, but calls it a BIT.
    func subqueryValue(_ expression: String, _ type: ColumnType) -> String {
        switch type {
        case .boolean, .bit: expression + " + 0"
        case .coded(let code): subqueryValue(expression, code.type)
        default: expression
        }
    }

    var defaultRow: String { " () VALUES ()" }
    var insertIfAbsent: String { "INSERT IGNORE" }

    func joined(_ first: String, with second: String) -> String { "CONCAT(\(first), \(second))" }

    func part(of column: String, from start: Int, upTo mark: Character) -> String {
        "SUBSTRING_INDEX(SUBSTRING(\(column), \(start)), '\(mark)', 1)"
    }

    var now: String { "UTC_TIMESTAMP(6)" }
    var nowFraction: Int { 6 }
    var nowText: String { "DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')" }

    var nowSeconds: String { "UNIX_TIMESTAMP()" }
    var wholeNumberType: String { "SIGNED" }

    func raise(counterOf table: TableName, above key: Int128) -> String {
        "ALTER TABLE \(quoted(table)) AUTO_INCREMENT = \(key + 1);"
    }

    /// The nodes of a Galera cluster have one history, but each node counts GTIDs separately.
    ///
    /// A replica has another `server_id` than its primary.
    var serverPositions: [Statement] {
        [
            """
            SELECT COALESCE(CONCAT('cluster ', cluster), CONCAT('server ', @@GLOBAL.server_id)), \
            IF(cluster IS NULL, CONCAT(@@gtid_binlog_pos, ',', @@gtid_current_pos), '') \
            FROM (SELECT (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
            WHERE VARIABLE_NAME = 'WSREP_CLUSTER_STATE_UUID' AND VARIABLE_VALUE > '00000000-0000-0000-0000-000000000000') \
            AS cluster) AS wsrep
            """, "SELECT CONCAT('server ', @@server_uuid), @@gtid_executed",
        ].map { Statement(sql: $0, binds: [], columns: [JournalColumn.text, JournalColumn.text]) }
    }

    func now(plusSeconds seconds: Int) -> String { "UTC_TIMESTAMP(6) + INTERVAL \(seconds) SECOND" }

    func now(minusDays days: Int) -> String { "UTC_TIMESTAMP(6) - INTERVAL \(days) DAY" }

    /// The database; in lower case if the server ignores the case of names.
    var databaseName: String { "SELECT IF(@@lower_case_table_names = 0, DATABASE(), LOWER(DATABASE()))" }

    var isFile: Bool { false }

    func file(ofSchema schema: String) -> String? { nil }

    func search(forSchema schema: String) -> Statement? {
        Statement(
            sql: "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?",
            binds: [Bind(.text(ExactText(schema)), JournalColumn.text.type)], columns: [JournalColumn.text])
    }

    func creation(ofSchema schema: String) -> Statement? {
        Statement(sql: "CREATE DATABASE IF NOT EXISTS \(quoted(schema)) CHARACTER SET utf8mb4", binds: [])
    }

    var firstGenerated: String { "LAST_INSERT_ID()" }
    var generatedStep: String { "@@auto_increment_increment" }
    var sequencesWithMerge: Bool { false }

    var namedLock: (take: String, free: String)? { ("GET_LOCK(?, 10)", "RELEASE_LOCK(?)") }

    /// The server shows triggers only to users that may create them, a right that a gateway should not have.
    ///
    /// It shows foreign keys only of tables on which the user has rights.
    var showsWholeSchema: Bool { false }
    var triggersReachTheirTable: Bool { false }
}
