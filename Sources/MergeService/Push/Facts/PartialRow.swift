import MergeCore
import RecordStore

/// Some columns of a row that a push is about to write.
struct PartialRow {
    let table: TableName
    let columns: [Column]
    let values: [Value]
    /// Positions of the columns that identify the row.
    let address: [Int]
}

extension PartialRow {
    init(_ row: [Value], of cascade: Cascade) {
        self.init(
            table: cascade.table, columns: cascade.columns, values: row, address: Array(0..<cascade.nameCount))
    }

    /// Returns the value that an assignment sets.
    func setting(_ assignment: Assignment) -> RawValue {
        RawValue(column: columns[assignment.column], value: assignment.value)
    }

    /// Returns the values of some columns in their types; nil if the row does not contain all of them.
    func values(of wanted: [Column]) -> [Value]? {
        let found = wanted.compactMap { column in
            columns.firstIndex {
                $0.lookup == nil && $0.name.lowercased() == column.name.lowercased() && $0.type == column.type
            }.map { values[$0] }
        }
        return found.count == wanted.count ? found : nil
    }
}
