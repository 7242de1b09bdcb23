import MergeCore
import RecordStore

/// A table for which rules can be made.
struct InspectedTable {
    let schema: TableSchema
    /// The columns by which clients address its rows.
    let key: [String]

    var name: TableName { schema.name }

    /// Returns true where none of the columns can be NULL.
    func isFilled(_ columns: [String]) -> Bool { columns.allSatisfy { schema.column($0)?.isNullable == false } }

    /// Returns true where the table says nothing but which rows of others, that these columns refer to, go together: it
    /// belongs to each of them.
    func isJunction(of linking: [String]) -> Bool {
        schema.columns.allSatisfy { column in
            if case .writable = ColumnRole(column, key: key, parents: linking) { false } else { true }
        }
    }
}
