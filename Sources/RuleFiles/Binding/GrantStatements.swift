package import MergeCore
package import RecordStore

/// The minimal rights for the current rules, as SQL for MariaDB.
///
/// They cover the tables of the rules. They also cover tables whose rows the database deletes or changes along with
/// these, because the gateway restores such rows.
package struct GrantStatements {
    private let catalog: Catalog
    private let schema: DatabaseSchema
    private let account: String
    private let dialect: any Dialect

    /// Creates the statements for an account in SQL form, such as `'fieldmerge'@'127.0.0.1'`.
    package init(_ catalog: Catalog, in schema: DatabaseSchema, to account: String, as dialect: any Dialect) {
        self.catalog = catalog
        self.schema = schema
        self.account = account
        self.dialect = dialect
    }

    /// One statement for each table, by name.
    package var onTables: [String] {
        statements { table, isWritten, _ in isWritten ? "SELECT, INSERT, UPDATE, DELETE" : "SELECT" }
    }

    /// One statement for each table, with rights on only the columns of the rules and of `undo-columns`.
    ///
    /// Only DELETE and SHOW VIEW apply to a whole table. The server shows the definition of a table only to an account
    /// with such a right. On a table, SHOW VIEW allows nothing else.
    package var onColumns: [String] {
        statements { table, isWritten, isNamed in
            let names = columns(of: table)
            let list = self.list(names.map(\.name))
            if !isWritten { return "SELECT \(list), SHOW VIEW" }
            let writable = self.list(names.filter { $0.serverOwned == nil }.map(\.name))
            return "SELECT \(list), INSERT \(writable), UPDATE \(writable), " + (isNamed ? "DELETE" : "SHOW VIEW")
        }
    }

    /// The right to read the binary log, which the server grants for all databases only, as a comment.
    package var ofLog: String {
        "-- Optional, for serve --changes binlog or auto: GRANT REPLICATION SLAVE ON *.* TO \(account);"
    }

    private func statements(_ rights: (TableName, _ isWritten: Bool, _ isNamed: Bool) -> String) -> [String] {
        var tables: [TableName: (isWritten: Bool, isNamed: Bool)] = [:]
        var writes: [TableName: Set<String>] = [:]
        for section in catalog.resources.flatMap(\.sections) {
            let isWritten = Self.isWritten(section)
            tables[section.table] = (tables[section.table]?.isWritten == true || isWritten, true)
            if isWritten {
                writes[section.table, default: []].formUnion(section.fields.map { section.columns[$0.column].name })
            }
            for step in section.columns.compactMap(\.lookup) {
                tables[step.table] = tables[step.table] ?? (false, true)
            }
        }
        for table in schema.tablesChangedAlong(withWritesTo: writes) {
            tables[table] = (true, tables[table]?.isNamed == true)
        }
        let locked = catalog.resources.filter { !$0.isAtomic }.flatMap(\.sections).compactMap {
            $0.table.schema ?? schema.name
        }
        let locks = Set(locked).sorted().map { name in
            "GRANT LOCK TABLES ON \(dialect.quoted(name)).* TO \(account);"
        }
        return tables.sorted { $0.key.description < $1.key.description }.map { table, use in
            let name = TableName(schema: table.schema ?? schema.name, name: table.name)
            return "GRANT \(rights(table, use.isWritten, use.isNamed)) ON \(dialect.quoted(name)) TO \(account);"
        } + locks
    }

    /// Returns the columns of a table that are read, in the table's order.
    private func columns(of table: TableName) -> [ColumnSchema] {
        let known = schema.tables[table]
        var names: Set<String> = []
        for section in catalog.resources.flatMap(\.sections) where section.table == table {
            names.formUnion(section.columns.map(\.name) + section.keptColumns)
        }
        for step in catalog.resources.flatMap(\.sections).flatMap(\.columns).compactMap(\.lookup)
        where step.table == table { names.formUnion([step.key.name, step.column.name]) }
        let dependents = schema.dependents.values.joined()
        for dependent in dependents where dependent.table == table {
            names.formUnion(dependent.columns + (known?.primaryKey ?? []))
        }
        for dependent in dependents where dependent.target == table { names.formUnion(dependent.targetColumns) }
        return known?.columns.filter { names.contains($0.name) } ?? []
    }

    private func list(_ names: [String]) -> String {
        "(" + names.map { dialect.quoted($0) }.joined(separator: ", ") + ")"
    }

    /// Returns true if the rows of a section can be created or deleted, even without groups.
    ///
    /// The rows of a junction are an example. A root with only read-only fields is not written.
    package static func isWritten(_ section: Section) -> Bool {
        !section.groups.isEmpty || (section.keyCount > 0 && (section.kind != .root || section.readOnly.isEmpty))
    }
}
