/// The keys, indexes and checks of a table.
package struct TableConstraints: Sendable, Hashable {
    /// The columns of the primary key in order; empty if there is none.
    package let primaryKey: [String]
    /// The indexes whose columns identify a row, including the primary key.
    package let uniqueIndexes: [UniqueIndex]
    /// Columns whose order of writes decides whether rows collide, besides those of `uniqueIndexes`.
    package let otherUniqueColumns: Set<String>
    /// The first columns of all indexes.
    package let indexedColumns: Set<String>
    /// The foreign keys that the database user may see.
    package let foreignKeys: [ForeignKey]
    /// The conditions of CHECK constraints by name, for messages.
    package let checks: [String: String]

    /// Bundles constraints; constraints that are left out do not exist.
    package init(
        primaryKey: [String] = [], uniqueIndexes: [UniqueIndex] = [], otherUniqueColumns: Set<String> = [],
        indexedColumns: Set<String> = [], foreignKeys: [ForeignKey] = [], checks: [String: String] = [:]
    ) {
        self.primaryKey = primaryKey
        self.uniqueIndexes = uniqueIndexes
        self.otherUniqueColumns = otherUniqueColumns
        self.indexedColumns = indexedColumns.union(
            ([primaryKey] + uniqueIndexes.map(\.columns)).compactMap(\.first))
        self.foreignKeys = foreignKeys
        self.checks = checks
    }
}
