internal import GRDB
internal import GRDBSQLite
import RecordStore

/// The unique indexes of a table, by whether their columns identify a row.
///
/// A search compares by the collation of the column. So an index with another collation may allow two rows that one
/// search finds. Source: https://www.sqlite.org/datatype3.html, section 7.1.
struct SQLiteUniqueIndexes {
    /// The columns of the primary key; empty if they do not identify a row.
    private(set) var primaryKey: [String]
    private(set) var identifying: [UniqueIndex] = []
    /// The columns of other unique indexes; those of the whole table if an index is partial or has expressions.
    private(set) var otherColumns: Set<String> = []

    init(of table: String, primaryKey: [String], in database: Database) throws {
        self.primaryKey = primaryKey
        let indexes = try Row.fetchAll(
            database, sql: "SELECT name, origin, partial FROM pragma_index_list(?) WHERE \"unique\" = 1 ORDER BY seq",
            arguments: [table])
        for index in indexes {
            let name: String = index["name"] ?? ""
            let isPrimary = index["origin"] == "pk"
            let parts = try Row.fetchAll(
                database, sql: "SELECT name, coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno",
                arguments: [name])
            let columns = parts.compactMap { $0["name"] as String? }
            guard columns.count == parts.count, index["partial"] == 0 else {
                let all = "SELECT name FROM pragma_table_xinfo(?)"
                otherColumns.formUnion(try String.fetchAll(database, sql: all, arguments: [table]))
                continue
            }
            let identifies = parts.allSatisfy { part in
                let own = Collation(of: part["name"] ?? "", in: table, database)
                return own?.isExact == true || own?.name.uppercased() == (part["coll"] ?? "").uppercased()
            }
            if !identifies {
                otherColumns.formUnion(columns)
                if isPrimary { self.primaryKey = [] }
            } else if !isPrimary {
                identifying.append(UniqueIndex(name: name, columns: columns))
            }
        }
        if !self.primaryKey.isEmpty {
            identifying.insert(UniqueIndex(name: "PRIMARY", columns: self.primaryKey), at: 0)
        }
    }
}

extension Collation {
    /// Reads the collation of a table's column; nil for a view.
    init?(of column: String, in table: String, _ database: Database) {
        var name: UnsafePointer<CChar>?
        let status = sqlite3_table_column_metadata(
            database.sqliteConnection, nil, table, column, nil, &name, nil, nil, nil)
        guard status == SQLITE_OK, let name else { return nil }
        let text = String(cString: name)
        self.init(text, isExact: text.uppercased() == "BINARY")
    }
}
