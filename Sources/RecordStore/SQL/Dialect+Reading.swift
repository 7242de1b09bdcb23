import MergeCore

extension Dialect {
    /// Returns the expression that reads a column of a table, or of the row that the table's row refers to.
    ///
    /// - Parameter isShared: locks a referred row against writes of other transactions.
    func reading(_ column: Column, of table: TableName, isShared: Bool = false) -> String {
        guard let step = column.lookup else { return value(column, name: quoted(column.name)) }
        let referred = quoted("fieldmerge_referred")
        let key = referred + "." + quoted(step.key.name)
        let own = quoted(table) + "." + quoted(step.own.name)
        // Texts are compared by their characters, as everywhere.
        let exact = step.key.type.comparison == .text ? " AND " + isExactly(key, own) : ""
        let shown = value(step.column, name: referred + "." + quoted(step.column.name))
        return "(SELECT " + subqueryValue(shown, step.column.type) + " FROM "
            + quoted(step.table) + " AS " + referred + " WHERE " + key + " = " + own + exact
            + (isShared ? sharedLockingClause : "") + ")"
    }

    private func value(_ column: Column, name: String) -> String {
        column.type == .wellKnownText ? "ST_AsText(\(name))" : name
    }
}
