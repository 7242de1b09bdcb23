import MergeCore
import RecordStore

/// The suitability of a table for rules.
enum TableFitness {
    case usable(InspectedTable)
    /// The reason, as the end of a sentence.
    case leftOut(String)

    init(_ table: TableSchema, allowsNonTransactional: Bool) {
        if table.isView {
            self = .leftOut("it is a view; if the database can update it, write its rules by hand, with a “key”")
        } else if !table.isTransactional, !allowsNonTransactional {
            self = .leftOut(
                "its engine \(table.engine) has no transactions; use --non-transactional to include it")
        } else if let key = Self.key(of: table) {
            let unknown = key.first { table.column($0)?.types.isEmpty != false }
            if let unknown {
                let type = table.column(unknown)?.declaredType ?? ""
                self = .leftOut(
                    "its key has the column “\(unknown)” of type \(type.isEmpty ? "unknown" : type), which is not supported yet"
                )
            } else {
                self = .usable(InspectedTable(schema: table, key: key))
            }
        } else {
            self = .leftOut("it has no primary key and no unique index of NOT NULL columns")
        }
    }

    /// Returns the primary key, else the unique NOT NULL index with the fewest columns.
    private static func key(of table: TableSchema) -> [String]? {
        if !table.primaryKey.isEmpty { return table.primaryKey }
        return table.uniqueIndexes.map(\.columns)
            .filter { !$0.isEmpty && table.isKey($0) }
            .min { $0.count < $1.count }
    }
}
