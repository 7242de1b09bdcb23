package import MergeCore

/// Statements for rows that no section describes.
package struct RawSQL: Sendable {
    private let dialect: any Dialect

    /// Uses a dialect.
    package init(_ dialect: any Dialect) {
        self.dialect = dialect
    }

    /// Returns the statement that inserts one row; columns that are left out get the database's defaults.
    package func insert(into table: TableName, _ columns: [String], _ binds: [Bind]) -> Statement {
        let into = "INSERT INTO " + dialect.quoted(table)
        guard !columns.isEmpty else { return Statement(sql: into + dialect.defaultRow, binds: []) }
        let names = columns.map { dialect.quoted($0) }.joined(separator: ", ")
        let marks = repeatElement("?", count: columns.count).joined(separator: ", ")
        return Statement(sql: into + " (\(names)) VALUES (\(marks))", binds: binds)
    }

    /// Returns the statement that updates the row of a key.
    ///
    /// - Parameter unset: columns that must be NULL; else nothing is written.
    package func update(
        _ table: TableName, _ values: [RawValue], where key: [RawValue], isNull unset: [Column] = []
    ) -> Statement {
        let sets = values.map { dialect.quoted($0.column.name) + " = ?" }.joined(separator: ", ")
        return Statement(
            sql: "UPDATE \(dialect.quoted(table)) SET \(sets) WHERE \(all(key))"
                + unset.map { " AND " + dialect.quoted($0.name) + " IS NULL" }.joined(),
            binds: (values + key).map { Bind($0.value, $0.column.type) }, mostRows: key.isEmpty ? nil : 1)
    }

    /// Returns the statement that reads the rows whose columns have the values of `key`.
    package func select(_ columns: [Column], from table: TableName, where key: [RawValue], locking: Bool) -> Statement {
        let names = columns.map { dialect.reading($0, of: table) }.joined(separator: ", ")
        return Statement(
            sql: "SELECT \(names) FROM \(dialect.quoted(table)) WHERE \(all(key))"
                + (locking ? dialect.lockingClause : ""),
            binds: key.map { Bind($0.value, $0.column.type) }, columns: columns)
    }

    private func all(_ key: [RawValue]) -> String {
        key.map { dialect.quoted($0.column.name) + " = ?" }.joined(separator: " AND ")
    }
}
