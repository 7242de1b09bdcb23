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
}
