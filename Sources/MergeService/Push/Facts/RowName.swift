import MergeCore

/// Names a row by the key of its table that a section uses, without a resource.
///
/// Two resources may share a table, and an item of one record may be the root of another. A table with several keys has
/// several names for a row.
struct RowName: Hashable, Sendable {
    let table: TableName
    /// The names of the key columns in lower case.
    let columns: [String]
    /// The key; empty if only the whole table can be named.
    let key: RecordKey

    /// Hashes only the key: tables are few and keys are many.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension RowName {
    /// Names a row by the columns by which a section finds it.
    init(_ key: RecordKey, in section: Section) {
        self.init(table: section.table, columns: section.addressNames, key: key)
    }

    /// Names any row of a table.
    init(anyRowOf table: TableName) { self.init(table: table, columns: [], key: RecordKey([])) }
}

extension Section {
    var addressColumns: [Column] { addressPositions.map { columns[$0] } }
}
