package import MergeCore

/// A unique index, the primary key among them.
package struct UniqueIndex: Sendable, Hashable {
    package let name: String
    package let columns: [String]

    package init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }
}

/// A foreign key from one table to another.
package struct ForeignKey: Sendable, Hashable {
    package let name: String
    package let columns: [String]
    package let target: TableName
    package let targetColumns: [String]

    package init(name: String, columns: [String], target: TableName, targetColumns: [String]) {
        self.name = name
        self.columns = columns
        self.target = target
        self.targetColumns = targetColumns
    }
}

/// A table or view as the live schema describes it.
package struct TableSchema: Sendable, Hashable {
    package let name: TableName
    package let isView: Bool
    /// A view whose rows can be written, or a table.
    package let isUpdatable: Bool
    /// The triggers that the database user may see.
    package let triggers: [String]
    /// The rights of the database user on the table; nil where the database does not tell.
    package let rights: Set<String>?
    /// The storage engine, for messages.
    package let engine: String
    package let isTransactional: Bool
    package let columns: [ColumnSchema]
    package let primaryKey: [String]
    package let uniqueIndexes: [UniqueIndex]
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

/// The tables that the rules name, as they stand in the database.
package struct DatabaseSchema: Sendable, Hashable {
    package let tables: [TableName: TableSchema]
    /// Every table and view of the schema connected to, to suggest names from.
    package let allNames: [String]
    /// The schema connected to; nil where the engine has none.
    package let name: String?
    /// The tables whose rows hang on a table's rows, for those that the rules name and those that a cascade reaches
    /// from them.
    package let dependents: [TableName: [Dependent]]

    package init(
        tables: [TableName: TableSchema], allNames: [String], name: String? = nil,
        dependents: [TableName: [Dependent]] = [:]
    ) {
        self.dependents = dependents
        self.tables = tables
        self.allNames = allNames
        self.name = name
    }
}
