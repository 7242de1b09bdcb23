package import MergeCore

/// The current schema of the tables that the rules name.
package struct DatabaseSchema: Sendable, Hashable {
    /// The tables by their names in the database; a table of the connected schema has no schema in its name.
    package let tables: [TableName: TableSchema]
    /// The names in the database by other spellings that name the same tables.
    package let spellings: [TableName: TableName]
    /// All tables and views of the connected schema, for suggestions.
    package let allNames: [String]
    /// The connected schema; nil if the engine has none.
    package let name: String?
    /// The foreign keys that refer to a table, for tables that the rules name and tables that a cascade reaches.
    package let dependents: [TableName: [Dependent]]
    /// True if no database was available, so that the types of columns are guesses.
    package let isGuessed: Bool

    /// Bundles a schema.
    package init(
        tables: [TableName: TableSchema], spellings: [TableName: TableName] = [:], allNames: [String],
        name: String? = nil,
        dependents: [TableName: [Dependent]] = [:], isGuessed: Bool = false
    ) {
        self.isGuessed = isGuessed
        self.dependents = dependents
        self.tables = tables
        self.spellings = spellings
        self.allNames = allNames
        self.name = name
    }
}

extension DatabaseSchema {
    /// Returns the schema with some tables of an earlier schema.
    package func with(_ names: [TableName], from earlier: DatabaseSchema) -> DatabaseSchema {
        var tables = tables
        for name in names { tables[name] = earlier.tables[name] ?? tables[name] }
        return DatabaseSchema(
            tables: tables, spellings: spellings, allNames: allNames, name: self.name, dependents: dependents,
            isGuessed: isGuessed)
    }

    /// Returns the foreign keys that delete or change rows if a row of a table is deleted.
    package func dependents(ofDeletionFrom table: TableName) -> [Dependent] {
        (dependents[table] ?? []).filter { $0.onDelete != nil }
    }

    /// Returns the foreign keys that change rows if some columns of a table change.
    package func dependents(ofChangeTo columns: Set<String>, in table: TableName) -> [Dependent] {
        (dependents[table] ?? []).filter { $0.onUpdate != nil && !columns.isDisjoint(with: $0.targetColumns) }
    }

    /// Returns all tables that cascades of some writes change, over any number of steps.
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
