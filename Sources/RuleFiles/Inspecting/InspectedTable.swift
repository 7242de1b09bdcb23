import MergeCore
import RecordStore

/// A table that is suitable for rules.
struct InspectedTable {
    let schema: TableSchema
    /// The columns that identify the rows for clients.
    let key: [String]

    var name: TableName { schema.name }

    /// Returns true if none of the columns can be NULL.
    func isFilled(_ columns: [String]) -> Bool { columns.allSatisfy { schema.column($0)?.isNullable == false } }

    /// Returns true if the table has no writable columns except these links, so that it belongs to each target.
    func isJunction(of linking: [String]) -> Bool {
        schema.columns.allSatisfy { column in
            if case .writable = ColumnRole(column, key: key, parents: linking) { false } else { true }
        }
    }
}
