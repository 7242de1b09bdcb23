package import MergeCore

/// A table or view as the live schema describes it.
package struct TableSchema: Sendable, Hashable {
    /// The name of the table.
    package let name: TableName
    /// It is a view.
    package let isView: Bool
    /// A view whose rows can be written, or a table.
    package let isUpdatable: Bool
    /// The triggers that the database user may see.
    package let triggers: [String]
    /// The rights of the database user on the table; nil where the database does not tell.
    package let rights: Set<String>?
    /// The storage engine, for messages.
    package let engine: String
    /// Its engine takes a transaction back.
    package let isTransactional: Bool
    /// The columns in their order.
    package let columns: [ColumnSchema]
    /// The columns of the primary key in its order; empty where there is none.
    package let primaryKey: [String]
    /// The unique indexes, the primary key among them.
    package let uniqueIndexes: [UniqueIndex]
    /// The foreign keys that the database user may see.
    package let foreignKeys: [ForeignKey]
    /// Names of CHECK constraints and what they say, for messages.
    package let checks: [String: String]

    package init(
        name: TableName, isView: Bool, isUpdatable: Bool = true, triggers: [String] = [], rights: Set<String>? = nil,
        engine: String,
        isTransactional: Bool, columns: [ColumnSchema], primaryKey: [String], uniqueIndexes: [UniqueIndex],
        foreignKeys: [ForeignKey], checks: [String: String]
    ) {
        self.name = name
        self.isView = isView
        self.isUpdatable = isUpdatable
        self.triggers = triggers
        self.rights = rights
        self.engine = engine
        self.isTransactional = isTransactional
        self.columns = columns
        self.primaryKey = primaryKey
        self.uniqueIndexes = uniqueIndexes
        self.foreignKeys = foreignKeys
        self.checks = checks
    }

    /// Returns the column of this name; nil where the table has none.
    package func column(_ name: String) -> ColumnSchema? { columns.first { $0.name == name } }

    /// The columns that a row needs to come back as it was: all that can be read and written.
    package var restorableColumns: [Column] {
        columns.compactMap { column in
            guard column.serverOwned == nil, let type = column.types.first, type != .wellKnownText
            else { return nil }
            return Column(name: column.name, type: type, isNullable: column.isNullable, isLoose: column.isLoose)
        }
    }

    /// Returns true where the columns, in any order, are a key: unique and never NULL.
    package func isKey(_ names: [String]) -> Bool {
        let wanted = Set(names)
        if !primaryKey.isEmpty, Set(primaryKey) == wanted { return true }
        return uniqueIndexes.contains { index in
            Set(index.columns) == wanted && index.columns.allSatisfy { column($0)?.isNullable == false }
        }
    }
}
