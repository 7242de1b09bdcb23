/// Finds column names in the operator's SQL.
package enum SQLWords {
    /// Returns true if the SQL contains the name as a word or in quotes.
    package static func mention(_ column: String, in sql: String) -> Bool {
        let wanted = column.lowercased()
        if sql.contains("`\(column)`") || sql.contains("\"\(column)\"") { return true }
        return sql.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
            .contains { $0.lowercased() == wanted }
    }

    /// Returns true if the SQL may read other rows than the row that it is evaluated on: SELECT, or `IN` with a table.
    package static func readsOtherRows(_ sql: String) -> Bool {
        mention("select", in: sql) || sql.lowercased().contains(/\bin\s+[^(\s]/)
    }
}
