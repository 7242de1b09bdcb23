/// The keys, indexes and checks of a table.
package struct TableConstraints: Sendable, Hashable {
    /// The columns of the primary key in order; empty if there is none.
    package let primaryKey: [String]
    /// The unique indexes, including the primary key.
    package let uniqueIndexes: [UniqueIndex]
    /// The first columns of all indexes.
    package let indexedColumns: Set<String>
    /// The foreign keys that the database user may see.
    package let foreignKeys: [ForeignKey]
    /// The conditions of CHECK constraints by name, for messages.
    package let checks: [String: String]

    /// Bundles constraints; constraints that are left out do not exist.
    package init(
        primaryKey: [String] = [], uniqueIndexes: [UniqueIndex] = [], indexedColumns: Set<String> = [],
        foreignKeys: [ForeignKey] = [],
        checks: [String: String] = [:]
    ) {
        self.primaryKey = primaryKey
        self.uniqueIndexes = uniqueIndexes
        self.indexedColumns = indexedColumns.union(
            ([primaryKey] + uniqueIndexes.map(\.columns)).compactMap(\.first))
        self.foreignKeys = foreignKeys
        self.checks = checks
    }
}
