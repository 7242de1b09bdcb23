import MergeCore
import RecordStore

struct SQLiteDialect: Dialect {
    var name: String { "sqlite" }
    var quotationMark: Character { "\"" }

    func violation(of key: ForeignKey) -> ConstraintViolation { ConstraintViolation(.foreignKey) }

    /// A writing transaction locks the whole file.
    var lockingClause: String { "" }

    /// The collation of the referenced column decides (https://www.sqlite.org/foreignkeys.html section 3).
    func comparing(under collation: Collation?) -> String { collation.map { " COLLATE " + quoted($0.name) } ?? "" }
    var impatientLockingClause: String { "" }
    var sharedLockingClause: String { "" }

    func isExactly(_ first: String, _ second: String) -> String {
        "CAST(\(first) AS BLOB) = CAST(\(second) AS BLOB)"
    }

    func subqueryValue(_ expression: String, _ type: ColumnType) -> String { expression }

    var defaultRow: String { " DEFAULT VALUES" }
    var insertIfAbsent: String { "INSERT OR IGNORE" }

    func joined(_ first: String, with second: String) -> String { "\(first) || \(second)" }

    func part(of column: String, from start: Int, upTo mark: Character) -> String {
        "substr(\(column), \(start), instr(substr(\(column), \(start)), '\(mark)') - 1)"
    }

    var now: String { "strftime('%Y-%m-%d %H:%M:%f', 'now')" }
    var nowFraction: Int { 3 }
    var nowText: String { "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')" }

    var nowSeconds: String { "CAST(strftime('%s', 'now') AS INTEGER)" }
    var wholeNumberType: String { "INTEGER" }

    var serverPositions: [Statement] { [] }

    /// Only a table with AUTOINCREMENT has a counter.
    func raise(counterOf table: TableName, above key: Int128) -> String {
        "UPDATE sqlite_sequence SET seq = MAX(seq, \(key)) WHERE name = '\(table.name.replacing("'", with: "''"))';"
    }

    func now(plusSeconds seconds: Int) -> String {
        "strftime('%Y-%m-%d %H:%M:%f', 'now', '+\(seconds) seconds')"
    }

    func now(minusDays days: Int) -> String { "strftime('%Y-%m-%d %H:%M:%f', 'now', '-\(days) days')" }

    var databaseName: String { Self.file(of: "main") }

    var isFile: Bool { true }

    /// The absolute path, without symbolic links.
    func file(ofSchema schema: String) -> String? { Self.file(of: schema) }

    private static func file(of schema: String) -> String {
        "SELECT file FROM pragma_database_list WHERE name = \(text(schema))"
    }

    func search(forSchema schema: String) -> Statement? { nil }

    func creation(ofSchema schema: String) -> Statement? { nil }

    var firstGenerated: String { "last_insert_rowid()" }
    var generatedStep: String { "1" }
    var sequencesWithMerge: Bool { true }

    var namedLock: (take: String, free: String)? { nil }
    var showsWholeSchema: Bool { true }
    var triggersReachTheirTable: Bool { true }

    static func text(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
