import MergeCore

/// Names a row by its table and the columns by which a section finds it.
///
/// Two resources may find the rows of one table by different columns.
struct RowName: Hashable {
    let table: TableName
    let key: [Column: Value]

    init(table: TableName, key: [Column: Value]) {
        self.table = table
        self.key = key
    }

    init(table: TableName, _ key: RecordKey, in section: Section) {
        self.table = table
        self.key = Dictionary(zip(section.addressColumns, key.parts)) { first, _ in first }
    }
}

extension Section {
    /// The key, or the link to the record if there is no key.
    var addressPositions: [Int] { keyCount > 0 ? Array(0..<keyCount) : parent.map(\.column) }

    var addressColumns: [Column] { addressPositions.map { columns[$0] } }
}
