import MergeCore

/// Names a row by table and key, without a resource.
///
/// Two resources may share a table, and an item of one record may be the root of another.
struct RowReference: Hashable, Sendable {
    let table: TableName
    /// The key; empty if only the whole table can be named.
    let key: RecordKey

    /// Hashes only the key: tables are few and keys are many.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
