package import MergeCore

/// The tables that the rules name, as they stand in the database.
package struct DatabaseSchema: Sendable, Hashable {
    /// The tables by the names that the rules have for them.
    package let tables: [TableName: TableSchema]
    /// Every table and view of the schema connected to, to suggest names from.
    package let allNames: [String]
    /// The schema connected to; nil where the engine has none.
    package let name: String?
    /// The tables whose rows hang on a table's rows, for those that the rules name and those that a cascade reaches
    /// from them.
    package let dependents: [TableName: [Dependent]]
    /// No database was at hand, so the types of columns are guessed.
    package let isGuessed: Bool

    /// Makes a schema of what was read.
    package init(
        tables: [TableName: TableSchema], allNames: [String], name: String? = nil,
        dependents: [TableName: [Dependent]] = [:], isGuessed: Bool = false
    ) {
        self.isGuessed = isGuessed
        self.dependents = dependents
        self.tables = tables
        self.allNames = allNames
        self.name = name
    }
}

extension DatabaseSchema {
    /// Returns the schema with some tables as an earlier reading found them.
    package func with(_ names: [TableName], from earlier: DatabaseSchema) -> DatabaseSchema {
        var tables = tables
        for name in names { tables[name] = earlier.tables[name] ?? tables[name] }
        return DatabaseSchema(
            tables: tables, allNames: allNames, name: self.name, dependents: dependents, isGuessed: isGuessed)
    }

    /// Returns the foreign keys that delete or change rows if a row of a table is deleted.
    package func dependents(ofDeletionFrom table: TableName) -> [Dependent] {
        (dependents[table] ?? []).filter { $0.onDelete != nil }
    }

    /// Returns the foreign keys that change rows if some columns of a table change.
    package func dependents(ofChangeTo columns: Set<String>, in table: TableName) -> [Dependent] {
        (dependents[table] ?? []).filter { $0.onUpdate != nil && !columns.isDisjoint(with: $0.targetColumns) }
    }

    /// Returns the tables whose rows the database changes along, over all steps, if rows of some tables are deleted or some
    /// of their columns change.
    ///
    /// - Parameter writes: the columns that change, by table; any row of these tables may be deleted.
    package func tablesChangedAlong(withWritesTo writes: [TableName: Set<String>]) -> Set<TableName> {
        var reached: Set<TableName> = []
        var deleted = Set(writes.keys)
        var changed = writes
        var pending = Array(writes.keys)
        while let table = pending.popLast() {
            let ofDeletion = deleted.contains(table) ? dependents(ofDeletionFrom: table) : []
            for (effect, dependent) in ofDeletion.map({ ($0.onDelete, $0) })
                + dependents(ofChangeTo: changed[table] ?? [], in: table).map({ ($0.onUpdate, $0) })
            {
                reached.insert(dependent.table)
                if effect == .delete {
                    if deleted.insert(dependent.table).inserted { pending.append(dependent.table) }
                } else if !Set(dependent.columns).isSubset(of: changed[dependent.table] ?? []) {
                    changed[dependent.table, default: []].formUnion(dependent.columns)
                    pending.append(dependent.table)
                }
            }
        }
        return reached
    }
}
