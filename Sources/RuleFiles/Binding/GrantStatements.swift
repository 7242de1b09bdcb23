package import MergeCore
package import RecordStore

/// The rights that the rules at hand need, as SQL for MariaDB: these and no others.
///
/// They are on the tables that the rules name, and on those whose rows go or change with rows of theirs (ON DELETE): the
/// gateway tells what went, keeps it in the journal, and brings it back.
package enum GrantStatements {
    /// One statement for each table, in the order of their names.
    ///
    /// - Parameters:
    ///   - account: who gets the rights, as SQL spells it: `'fieldmerge'@'127.0.0.1'`.
    ///   - dialect: of the database that the schema is of.
    package static func sql(
        for catalog: Catalog, in schema: DatabaseSchema, to account: String, as dialect: any Dialect
    ) -> [String] {
        var writes: [TableName: Bool] = [:]
        for section in catalog.resources.flatMap(\.sections) {
            writes[section.table] = writes[section.table] == true || isWritten(section)
        }
        for dependent in schema.dependents.values.joined() { writes[dependent.table] = true }
        let locked = catalog.resources.filter { !$0.isAtomic }.flatMap(\.sections).compactMap {
            $0.table.schema ?? schema.name
        }
        let locks = Set(locked).sorted().map { name in
            "GRANT LOCK TABLES ON \(dialect.quoted(name)).* TO \(account);"
        }
        return writes.sorted { $0.key.description < $1.key.description }.map { table, isWritten in
            let name = TableName(schema: table.schema ?? schema.name, name: table.name)
            let rights = isWritten ? "SELECT, INSERT, UPDATE, DELETE" : "SELECT"
            return "GRANT \(rights) ON \(dialect.quoted(name)) TO \(account);"
        } + locks
    }

    /// Rows without groups are created and deleted all the same, as those of a junction are; a resource of nothing but
    /// read-only fields is there to be read.
    package static func isWritten(_ section: Section) -> Bool {
        !section.groups.isEmpty || (section.keyCount > 0 && (section.kind != .root || section.readOnly.isEmpty))
    }
}
