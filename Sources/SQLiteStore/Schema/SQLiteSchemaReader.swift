internal import GRDB
internal import GRDBSQLite
import MergeCore
import RecordStore

struct SQLiteSchemaReader {
    private let database: Database

    init(_ database: Database) {
        self.database = database
    }

    func read(_ tables: [TableName]) throws -> DatabaseSchema {
        let names = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        var found: [TableName: TableSchema] = [:]
        var spellings: [TableName: TableName] = [:]
        for table in tables where found[table] == nil {
            guard let name = try storedName(of: table.name, among: ["table", "view"]) else { continue }
            let stored = TableName(schema: table.schema, name: name)
            if stored != table { spellings[table] = stored }
            found[stored] = try read(stored)
        }
        let dependents = try dependents(names)
        for dependent in dependents.values.joined() where found[dependent.table] == nil {
            found[dependent.table] = try read(dependent.table)
        }
        return DatabaseSchema(
            tables: found, spellings: spellings, allNames: names.filter { !$0.hasPrefix("sqlite_") },
            dependents: dependents)
    }

    /// Returns all foreign keys of the file that delete or change rows, by the table that they refer to.
    private func dependents(_ names: [String]) throws -> [TableName: [Dependent]] {
        var dependents: [TableName: [Dependent]] = [:]
        for name in names {
            let rules = try Row.fetchAll(
                database, sql: "SELECT DISTINCT id, on_delete, on_update FROM pragma_foreign_key_list(?) ORDER BY id",
                arguments: [name])
            for (key, rule) in zip(try foreignKeys(name), rules) {
                let onDelete = Self.effect(rule["on_delete"], cascade: .delete)
                let onUpdate = Self.effect(rule["on_update"], cascade: .update)
                if onDelete == nil, onUpdate == nil { continue }
                dependents[key.target, default: []].append(
                    Dependent(
                        constraint: key.name, table: TableName(name: name), columns: key.columns,
                        target: key.target, targetColumns: key.targetColumns, onDelete: onDelete, onUpdate: onUpdate))
            }
        }
        return dependents
    }

    private static func effect(_ action: String?, cascade: Cascade.Effect) -> Cascade.Effect? {
        switch action {
        case "CASCADE": cascade
        case "SET NULL": .setNull
        default: nil
        }
    }

    private func read(_ table: TableName) throws -> TableSchema? {
        guard table.schema == nil,
            let head = try Row.fetchOne(
                database, sql: "SELECT type, sql FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')",
                arguments: [table.name])
        else { return nil }
        let isView: Bool = head["type"] == "view"
        let definition: String = head["sql"] ?? ""
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM pragma_table_xinfo(?) ORDER BY cid", arguments: [table.name])
        let keyed = rows.filter { ($0["pk"] as Int? ?? 0) > 0 }
            .sorted { ($0["pk"] as Int? ?? 0) < ($1["pk"] as Int? ?? 0) }
        let unique = try SQLiteUniqueIndexes(of: table.name, primaryKey: keyed.compactMap { $0["name"] }, in: database)
        let primaryKey = unique.primaryKey
        let isRowID =
            keyed.count == 1 && (keyed[0]["type"] as String? ?? "").uppercased() == "INTEGER"
            && !definition.uppercased().contains("WITHOUT ROWID")
        let visible = rows.filter { ($0["hidden"] as Int? ?? 0) != 1 }
        let signatures = signatures(of: visible.compactMap { $0["name"] }, in: table)
        let columns = visible.map { row in
            column(row, of: table.name, isRowID: isRowID && row["name"] == primaryKey.first, signatures)
        }
        return TableSchema(
            name: table, form: isView ? .view(isUpdatable: false) : .table,
            storage: StorageEngine("SQLite", isTransactional: true), columns: columns,
            constraints: TableConstraints(
                primaryKey: primaryKey, uniqueIndexes: unique.identifying, otherUniqueColumns: unique.otherColumns,
                indexedColumns: try indexedColumns(table.name),
                foreignKeys: try foreignKeys(table.name), checks: CheckScanner(definition).checks),
            triggers: try triggers(table.name))
    }

    private func triggers(_ table: String) throws -> [String] {
        try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? ORDER BY name",
            arguments: [table])
    }

    /// Returns the types that statements report, by column; empty for a view that cannot be read.
    private func signatures(of columns: [String], in table: TableName) -> [String: ColumnSignature] {
        let dialect = SQLiteDialect()
        let names = columns.map { dialect.quoted($0) }.joined(separator: ", ")
        guard let statement = try? database.makeStatement(sql: "SELECT \(names) FROM \(dialect.quoted(table))") else {
            return [:]
        }
        let found = columns.indices.map { ColumnSignature(statement.sqliteStatement, Int32($0)) }
        return Dictionary(zip(columns, found)) { first, _ in first }
    }

    private func column(
        _ row: Row, of table: String, isRowID: Bool, _ signatures: [String: ColumnSignature]
    ) -> ColumnSchema {
        let name: String = row["name"] ?? ""
        let declared: String = row["type"] ?? ""
        let isGenerated = (row["hidden"] as Int? ?? 0) >= 2
        let isNullable = (row["notnull"] as Int? ?? 0) == 0 && (row["pk"] as Int? ?? 0) == 0
        let type = SQLiteColumnType(declared: declared)
        return ColumnSchema(
            name: name,
            declared: DeclaredType(
                declared, types: type.types, explicitTypes: type.explicitTypes, isLoose: !type.hasTextAffinity,
                collation: Collation(of: row["name"] ?? "", in: table, database)),
            isNullable: isNullable,
            filling: ColumnFilling(
                hasDefault: isNullable || isRowID || (row["dflt_value"] as String?) != nil,
                isAutoIncrement: isRowID, serverOwned: isGenerated ? "it is generated" : nil),
            signature: signatures[name])
    }

    private func indexedColumns(_ table: String) throws -> Set<String> {
        let columns = try Optional<String>.fetchAll(
            database,
            sql: "SELECT info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info "
                + "WHERE info.seqno = 0 AND list.partial = 0",
            arguments: [table])
        return Set(columns.compactMap(\.self))
    }

    private func foreignKeys(_ table: String) throws -> [RecordStore.ForeignKey] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id, seq",
            arguments: [table])
        var keys: [Int: RecordStore.ForeignKey] = [:]
        for row in rows {
            let id: Int = row["id"] ?? 0
            // A reference may spell tables and columns in another case than their definition.
            let spelled: String = row["table"] ?? ""
            let target = try storedName(of: spelled, among: ["table"]) ?? spelled
            let named: String? = row["to"]
            // Without a column, the key refers to the primary key of its target.
            let known = keys[id]?.columns.count ?? 0
            let column = try named.map { try columnName($0, of: target) } ?? primaryKeyColumn(of: target, at: known)
            let own = try columnName(row["from"] ?? "", of: table)
            keys[id] = RecordStore.ForeignKey(
                name: "foreign key \(id)", columns: (keys[id]?.columns ?? []) + [own],
                target: TableName(name: target), targetColumns: (keys[id]?.targetColumns ?? []) + [column ?? ""])
        }
        return keys.keys.sorted().compactMap { keys[$0] }
    }

    /// Returns the name under which the file contains a table or a view; SQLite ignores the case of ASCII letters.
    private func storedName(of spelled: String, among types: [String]) throws -> String? {
        let types = types.map { "'\($0)'" }.joined(separator: ", ")
        return try String.fetchOne(
            database, sql: "SELECT name FROM sqlite_master WHERE type IN (\(types)) AND name = ? COLLATE NOCASE",
            arguments: [spelled])
    }

    private func columnName(_ spelled: String, of table: String) throws -> String {
        try String.fetchOne(
            database, sql: "SELECT name FROM pragma_table_info(?) WHERE name = ? COLLATE NOCASE",
            arguments: [table, spelled]) ?? spelled
    }

    private func primaryKeyColumn(of table: String, at position: Int) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT name FROM pragma_table_info(?) WHERE pk = ?", arguments: [table, position + 1])
    }
}
