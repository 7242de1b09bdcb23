package import MergeCore

/// A table or view in the live schema.
package struct TableSchema: Sendable, Hashable {
    /// The name of the table.
    package let name: TableName
    /// The kind: a table or a view.
    package let form: TableForm
    /// The storage engine.
    package let storage: StorageEngine
    /// The columns in their order.
    package let columns: [ColumnSchema]
    /// The keys, indexes and checks.
    package let constraints: TableConstraints
    /// The triggers that the database user may see.
    package let triggers: [String]
    /// The rights of the database user on the table; nil if the database does not report them.
    package let rights: Set<String>?

    /// Describes a table or view.
    package init(
        name: TableName, form: TableForm = .table, storage: StorageEngine, columns: [ColumnSchema],
        constraints: TableConstraints, triggers: [String] = [], rights: Set<String>? = nil
    ) {
        self.name = name
        self.form = form
        self.storage = storage
        self.columns = columns
        self.constraints = constraints
        self.triggers = triggers
        self.rights = rights
    }

    /// True for a view.
    package var isView: Bool { form != .table }
    /// True for a table, and for a view whose rows can be written.
    package var isUpdatable: Bool { form != .view(isUpdatable: false) }
    /// The name of the storage engine, for messages.
    package var engine: String { storage.name }
    /// True if the engine can roll back a transaction.
    package var isTransactional: Bool { storage.isTransactional }
    /// The columns of the primary key in order; empty if there is none.
    package var primaryKey: [String] { constraints.primaryKey }
    /// The indexes whose columns identify a row, including the primary key.
    package var uniqueIndexes: [UniqueIndex] { constraints.uniqueIndexes }
    /// Returns true if an index begins with a column.
    package func isIndexed(by column: String) -> Bool { constraints.indexedColumns.contains(column) }
    /// The foreign keys that the database user may see.
    package var foreignKeys: [ForeignKey] { constraints.foreignKeys }
    /// The conditions of CHECK constraints by name, for messages.
    package var checks: [String: String] { constraints.checks }

    /// Returns the column of this name; nil if there is none.
    package func column(_ name: String) -> ColumnSchema? { columns.first { $0.name == name } }

    /// All columns that can be read and written, which a restored row needs.
    package var restorableColumns: [Column] {
        columns.compactMap { column in
            guard column.serverOwned == nil, let type = column.types.first, type != .wellKnownText
            else { return nil }
            return column.column(as: type)
        }
    }

    /// Returns true if the columns, in any order, are a key: unique and never NULL.
    package func isKey(_ names: [String]) -> Bool {
        let wanted = Set(names)
        if !primaryKey.isEmpty, Set(primaryKey) == wanted { return true }
        return uniqueIndexes.contains { index in
            Set(index.columns) == wanted && index.columns.allSatisfy { column($0)?.isNullable == false }
        }
    }
}
