/// The keys, indexes and checks of a table.
package struct TableConstraints: Sendable, Hashable {
    /// The columns of the primary key in its order; empty where there is none.
    package let primaryKey: [String]
    /// The unique indexes, the primary key among them.
    package let uniqueIndexes: [UniqueIndex]
    /// The columns that an index begins with.
    package let indexedColumns: Set<String>
    /// The foreign keys that the database user may see.
    package let foreignKeys: [ForeignKey]
    /// Names of CHECK constraints and what they say, for messages.
    package let checks: [String: String]

    /// Makes the constraints of a table; what is left out it has none of.
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
