package import MergeCore

/// A table or view as the live schema describes it.
package struct TableSchema: Sendable, Hashable {
    /// The name of the table.
    package let name: TableName
    /// The form of what stands under the name.
    package let form: TableForm
    /// The storage engine.
    package let storage: StorageEngine
    /// The columns in their order.
    package let columns: [ColumnSchema]
    /// The keys, indexes and checks.
    package let constraints: TableConstraints
    /// The triggers that the database user may see.
    package let triggers: [String]
    /// The rights of the database user on the table; nil where the database does not tell.
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

    /// It is a view.
    package var isView: Bool { form != .table }
    /// A view whose rows can be written, or a table.
    package var isUpdatable: Bool { form != .view(isUpdatable: false) }
    /// The name of the storage engine, for messages.
    package var engine: String { storage.name }
    /// Its engine takes a transaction back.
    package var isTransactional: Bool { storage.isTransactional }
    /// The columns of the primary key in its order; empty where there is none.
    package var primaryKey: [String] { constraints.primaryKey }
    /// The unique indexes, the primary key among them.
    package var uniqueIndexes: [UniqueIndex] { constraints.uniqueIndexes }
    /// Returns true where an index begins with a column.
    package func isIndexed(by column: String) -> Bool { constraints.indexedColumns.contains(column) }
    /// The foreign keys that the database user may see.
    package var foreignKeys: [ForeignKey] { constraints.foreignKeys }
    /// Names of CHECK constraints and what they say, for messages.
    package var checks: [String: String] { constraints.checks }

    /// Returns the column of this name; nil where the table has none.
    package func column(_ name: String) -> ColumnSchema? { columns.first { $0.name == name } }

    /// The columns that a row needs to come back as it was: all that can be read and written.
    package var restorableColumns: [Column] {
        columns.compactMap { column in
            guard column.serverOwned == nil, let type = column.types.first, type != .wellKnownText
            else { return nil }
            return column.column(as: type)
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
