import MergeCore
import RecordStore

/// A column that the operator's SQL names and its table does not have.
struct MissingColumn {
    private let name: String
    private let table: TableSchema

    /// Reads the name from the message of the database; nil if the message has another cause.
    init?(in message: String, of table: TableSchema) {
        let patterns = [/Unknown column '(?:[^']*\.)?([^'.]+)'/, /no such column: (?:\S*\.)?([^\s.]+)/]
        guard let name = patterns.lazy.compactMap({ message.firstMatch(of: $0)?.1 }).first else { return nil }
        // The SQL may name a column of another table, in a subquery.
        guard !table.columns.contains(where: { $0.name.lowercased() == name.lowercased() }) else { return nil }
        self.name = String(name)
        self.table = table
    }

    var sentence: String {
        "table “\(table.name.name)” has no column “\(name)”"
            + NearestName.hint(for: name, among: table.columns.map(\.name))
    }
}
