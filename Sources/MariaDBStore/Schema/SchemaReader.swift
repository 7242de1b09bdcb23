import MergeCore
import RecordStore

/// Reads the schema of the rules' tables from information_schema.
struct SchemaReader {
    private let session: MariaDBSession
    private let characterSets: CharacterSets
    private let rights: UserRights
    private let cascades: CascadeReader

    init(_ session: MariaDBSession) {
        self.session = session
        characterSets = CharacterSets(session)
        rights = UserRights(session)
        cascades = CascadeReader(session)
    }

    func read(_ tables: [TableName]) throws(StoreError) -> DatabaseSchema {
        let names = try InformationSchema(session).rows(["TABLE_NAME"], from: "TABLES", orderedBy: "TABLE_NAME")
        var found: [TableName: TableSchema] = [:]
        var spellings: [TableName: TableName] = [:]
        for table in tables where found[table] == nil && spellings[table] == nil {
            guard let name = try storedName(of: table) else { continue }
            if name != table { spellings[table] = name }
            if found[name] == nil { found[name] = try read(name) }
        }
        let dependents = try dependents(of: Array(found.keys), &found)
        return DatabaseSchema(
            tables: found, spellings: spellings, allNames: names.compactMap { $0[0] }, name: try rights.database(),
            dependents: dependents)
    }

    /// Returns the name under which the database stores a table; nil if it has no such table.
    ///
    /// information_schema ignores the case of names and accents. The file system of a server may not.
    private func storedName(of table: TableName) throws(StoreError) -> TableName? {
        let rows = try InformationSchema(session, table: table).rows(
            ["TABLE_NAME", "NULLIF(TABLE_SCHEMA, DATABASE())"], from: "TABLES")
        let stored = rows.compactMap { row in row[0].map { TableName(schema: row[1], name: $0) } }
        if let exact = stored.first(where: { ExactText($0.name) == ExactText(table.name) }) { return exact }
        let alike = stored.filter { ExactText($0.name.lowercased()) == ExactText(table.name.lowercased()) }
        return alike.count == 1 ? alike[0] : nil
    }

    /// Follows foreign keys that delete or change rows, and also reads the tables that they reach.
    private func dependents(
        of tables: [TableName], _ found: inout [TableName: TableSchema]
    ) throws(StoreError) -> [TableName: [Dependent]] {
        var dependents: [TableName: [Dependent]] = [:]
        var pending = tables
        while let table = pending.popLast() {
            guard dependents[table] == nil, found[table]?.isView == false else { continue }
            let direct = try cascades.dependents(of: table)
            dependents[table] = direct
            for dependent in direct {
                if found[dependent.table] == nil { found[dependent.table] = try read(dependent.table) }
                pending.append(dependent.table)
            }
        }
        return dependents.filter { !$0.value.isEmpty }
    }

    private func read(_ name: TableName) throws(StoreError) -> TableSchema? {
        let source = InformationSchema(session, table: name)
        let heads = try source.rows(["TABLE_NAME", "TABLE_TYPE", "ENGINE"], from: "TABLES")
        guard let head = heads.first(where: { $0[0].map(ExactText.init) == ExactText(name.name) }), let kind = head[1]
        else { return nil }
        let signatures = ColumnSignatures(session, table: name)
        try signatures.holdTable()
        let isView = kind.hasSuffix("VIEW")
        let engine = head[2] ?? kind
        let checks = isView ? CheckScanner("") : try checks(source)
        let indexes = try indexes(source)
        return TableSchema(
            name: name, form: isView ? .view(isUpdatable: try isUpdatable(source)) : .table,
            storage: StorageEngine(engine, isTransactional: isView ? true : try isTransactional(engine)),
            columns: try columns(of: source, checks: checks, signatures: signatures),
            constraints: TableConstraints(
                primaryKey: indexes.first { $0.name == "PRIMARY" }?.columns ?? [], uniqueIndexes: indexes,
                indexedColumns: try indexedColumns(source),
                foreignKeys: try foreignKeys(source), checks: checks.checks),
            triggers: try triggers(source), rights: try rights.rights(on: name))
    }

    private func isUpdatable(_ source: InformationSchema) throws(StoreError) -> Bool {
        try source.rows(["IS_UPDATABLE"], from: "VIEWS").first?.first == "YES"
    }

    private func triggers(_ source: InformationSchema) throws(StoreError) -> [String] {
        let rows = try source.rows(
            ["TRIGGER_NAME"], from: "TRIGGERS", schemaColumn: "EVENT_OBJECT_SCHEMA", tableColumn: "EVENT_OBJECT_TABLE",
            orderedBy: "TRIGGER_NAME")
        return rows.compactMap { $0.first ?? nil }
    }

    private func isTransactional(_ engine: String) throws(StoreError) -> Bool {
        let text = ColumnType.text(TextType())
        let rows = try session.query(
            Statement(
                sql: "SELECT TRANSACTIONS FROM information_schema.ENGINES WHERE ENGINE = ?",
                binds: [Bind(.text(ExactText(engine)), text)],
                columns: [Column(name: "TRANSACTIONS", type: text, isNullable: true)]))
        return rows.first == [.text(ExactText("YES"))]
    }

    /// Reads the checks from the table's definition: information_schema hides them from a user with only FieldMerge's
    /// rights.
    private func checks(_ source: InformationSchema) throws(StoreError) -> CheckScanner {
        CheckScanner(try source.definition())
    }

    private func indexes(_ source: InformationSchema) throws(StoreError) -> [UniqueIndex] {
        let rows = try source.rows(
            ["INDEX_NAME", "COLUMN_NAME"], from: "STATISTICS", also: "NON_UNIQUE = 0",
            orderedBy: "INDEX_NAME, SEQ_IN_INDEX")
        return Self.grouped(rows).map { UniqueIndex(name: $0.name, columns: $0.rows.compactMap { $0[1] }) }
    }

    private func indexedColumns(_ source: InformationSchema) throws(StoreError) -> Set<String> {
        let rows = try source.rows(
            ["COLUMN_NAME"], from: "STATISTICS", also: "SEQ_IN_INDEX = 1", orderedBy: "INDEX_NAME")
        return Set(rows.compactMap { $0[0] })
    }

    private func foreignKeys(_ source: InformationSchema) throws(StoreError) -> [ForeignKey] {
        let rows = try source.rows(
            [
                "CONSTRAINT_NAME", "COLUMN_NAME", "REFERENCED_TABLE_NAME", "REFERENCED_COLUMN_NAME",
                "NULLIF(REFERENCED_TABLE_SCHEMA, DATABASE())",
            ], from: "KEY_COLUMN_USAGE", also: "REFERENCED_TABLE_NAME IS NOT NULL",
            orderedBy: "CONSTRAINT_NAME, ORDINAL_POSITION")
        return Self.grouped(rows).compactMap { name, rows in
            guard let first = rows.first, let target = first[2] else { return nil }
            return ForeignKey(
                name: name, columns: rows.compactMap { $0[1] }, target: TableName(schema: first[4], name: target),
                targetColumns: rows.compactMap { $0[3] })
        }
    }

    private static func grouped(_ rows: [[String?]]) -> [(name: String, rows: [[String?]])] {
        var groups: [(name: String, rows: [[String?]])] = []
        for row in rows {
            guard let name = row[0] else { continue }
            if groups.last?.name == name {
                groups[groups.count - 1].rows.append(row)
            } else {
                groups.append((name, [row]))
            }
        }
        return groups
    }

    private func columns(
        of source: InformationSchema, checks: CheckScanner, signatures: ColumnSignatures
    ) throws(StoreError) -> [ColumnSchema] {
        let rows = try source.rows(
            [
                "COLUMN_NAME", "COLUMN_TYPE", "DATA_TYPE", "IS_NULLABLE", "COLUMN_DEFAULT", "EXTRA",
                "GENERATION_EXPRESSION", "CHARACTER_SET_NAME", "CHARACTER_MAXIMUM_LENGTH", "CHARACTER_OCTET_LENGTH",
                "NUMERIC_PRECISION", "NUMERIC_SCALE", "DATETIME_PRECISION", "PRIVILEGES", "COLLATION_NAME",
            ], from: "COLUMNS", orderedBy: "ORDINAL_POSITION")
        let readable = rows.filter { $0[13]?.split(separator: ",").contains("select") == true }.compactMap { $0[0] }
        let known = try signatures.read(readable)
        var columns: [ColumnSchema] = []
        for row in rows {
            guard let name = row[0], let declared = row[1], let data = row[2] else { continue }
            let isJSON = checks.unnamed.contains("(json_valid(\(MariaDBDialect().quoted(name))))")
            var repertoire: Repertoire?
            if let set = row[7] { repertoire = try characterSets.repertoire(of: set) }
            let facts = ColumnFacts(
                declaredType: declared, dataType: isJSON ? "json" : data.lowercased(),
                repertoire: repertoire,
                characters: row[8].flatMap { Int($0) }, bytes: row[9].flatMap { Int($0) },
                precision: row[10].flatMap { Int($0) }, scale: row[11].flatMap { Int($0) },
                fraction: row[12].flatMap { Int($0) }, hasWideTimestamp: session.isMariaDB && session.version >= 110_500
            )
            let extra = (row[5] ?? "").lowercased()
            let isNullable = row[3] == "YES"
            let isAutoIncrement = extra.contains("auto_increment")
            columns.append(
                ColumnSchema(
                    name: name,
                    declared: DeclaredType(
                        isJSON ? "json" : declared + (row[7].map { " character set " + $0 } ?? ""), types: facts.types,
                        collation: row[14].map { Collation($0, isExact: Self.isExact($0)) }),
                    isNullable: isNullable,
                    filling: ColumnFilling(
                        hasDefault: isNullable || isAutoIncrement || row[4] != nil, isAutoIncrement: isAutoIncrement,
                        serverOwned: facts.isSpatial
                            ? "spatial values are only read" : Self.serverOwned(extra, expression: row[6]),
                        isStamped: extra.contains(Self.onUpdate)),
                    signature: known[name]))
        }
        return columns
    }

    /// A collation with padding equates texts that differ only in trailing blanks.
    private static func isExact(_ collation: String) -> Bool {
        collation == "binary" || collation == "utf8mb4_0900_bin" || collation.hasSuffix("_nopad_bin")
    }

    private static let onUpdate = "on update"

    private static func serverOwned(_ extra: String, expression: String?) -> String? {
        if let expression, !expression.isEmpty { return "it is generated" }
        if extra.contains(onUpdate) { return "the server sets it on every update (ON UPDATE CURRENT_TIMESTAMP)" }
        return nil
    }
}
