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
    package func select(
        _ columns: [Column], from table: TableName, where key: [RawValue], locking: Bool, limit: Int? = nil
    ) -> Statement {
        select(
            columns, from: table, where: key,
            (limit.map { " LIMIT \($0)" } ?? "") + (locking ? dialect.lockingClause : ""))
    }

    /// Returns the statement that locks the rows whose columns have the values of `key` against writes.
    package func share(_ columns: [Column], of table: TableName, where key: [RawValue]) -> Statement {
        select(columns, from: table, where: key, dialect.sharedLockingClause)
    }

    private func select(_ columns: [Column], from table: TableName, where key: [RawValue], _ end: String) -> Statement {
        let names = columns.map { dialect.reading($0, of: table) }.joined(separator: ", ")
        return Statement(
            sql: "SELECT \(names) FROM \(dialect.quoted(table)) WHERE \(all(key))" + end,
            binds: key.map { Bind($0.value, $0.column.type) }, columns: columns)
    }

    /// Returns the statement that reads the rows whose columns have the values of one of some keys.
    ///
    /// - Parameter keys: at most `SectionSQL.maximumBatch`, with the same columns.
    package func select(
        _ columns: [Column], from table: TableName, whereAny keys: [[RawValue]], locking: Bool
    ) -> Statement {
        // The last key fills the statement up to one of a few sizes, so that few statements are prepared.
        let size = SectionSQL.batchSizes.first { $0 >= keys.count } ?? keys.count
        let padded = keys + repeatElement(keys.last ?? [], count: size - keys.count)
        let names = columns.map { dialect.reading($0, of: table) }.joined(separator: ", ")
        return Statement(
            sql: "SELECT \(names) FROM \(dialect.quoted(table)) WHERE "
                + padded.map { "(" + all($0) + ")" }.joined(separator: " OR ")
                + (locking ? dialect.lockingClause : ""),
            binds: padded.joined().map { Bind($0.value, $0.column.type) }, columns: columns)
    }

    private func all(_ key: [RawValue]) -> String {
        key.map { dialect.quoted($0.column.name) + " = ?" }.joined(separator: " AND ")
    }
}
