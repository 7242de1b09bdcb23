import MergeCore

extension SectionSQL {
    /// Returns the condition that a client may see a row.
    func condition(_ filter: RowFilter) -> (sql: String, binds: [Bind]) {
        var binds: [Bind] = []
        let alternatives = filter.alternatives.map { tests in
            let parts = tests.sorted { $0.key < $1.key }.map { column, test in
                text(test, of: section.columns[column], &binds)
            }
            return "(" + parts.joined(separator: " AND ") + ")"
        }
        // No role shows a row.
        return (alternatives.isEmpty ? "1 = 0" : "(" + alternatives.joined(separator: " OR ") + ")", binds)
    }

    private func text(_ test: RowFilter.Test, of column: Column, _ binds: inout [Bind]) -> String {
        let name = dialect.reading(column, of: section.table)
        func compared(_ sign: String, _ value: Value) -> String {
            binds.append(Bind(value, column.type))
            return name + sign + "?"
        }
        switch test {
        case .oneOf(let values):
            if values.isEmpty { return "1 = 0" }
            for value in values { binds.append(Bind(value, column.type)) }
            return name + " IN (" + repeatElement("?", count: values.count).joined(separator: ",") + ")"
        case .null: return name + " IS NULL"
        case .not(let denied): return "(" + name + " IS NOT NULL AND NOT " + text(denied, of: column, &binds) + ")"
        case .any(let tests):
            if tests.isEmpty { return "1 = 0" }
            return "(" + tests.map { text($0, of: column, &binds) }.joined(separator: " OR ") + ")"
        case .all(let tests):
            return "(" + tests.map { text($0, of: column, &binds) }.joined(separator: " AND ") + ")"
        case .before(let end): return compared(" < ", end)
        case .after(let start): return compared(" > ", start)
        }
    }
}
