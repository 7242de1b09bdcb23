package import MergeCore
package import RecordStore

/// The state that a gateway serves at one moment: the rules bound to the schema, the schema itself, and where it keeps what it
/// merges.
package final class ActiveRules: Sendable {
    /// The rules.
    package let catalog: Catalog
    /// The schema of the tables that the rules name.
    package let schema: DatabaseSchema
    /// nil where nothing is kept: then keys are only echoed.
    package let journal: Journal?
    let footprints: Footprints
    let views: TableViews
    let keptColumns: KeptColumns

    /// - Parameter dialect: of the database that the schema is of.
    package init(catalog: Catalog, schema: DatabaseSchema, dialect: any Dialect, journal: Journal? = nil) {
        self.catalog = catalog
        self.schema = schema
        self.journal = journal
        views = TableViews(catalog)
        keptColumns = KeptColumns(catalog, schema: schema)
        footprints = Footprints(catalog, schema: schema, dialect: dialect)
    }

    /// Returns true if nothing differs that a push, a read or an answer depends on: rules with their lines, schema, journal.
    ///
    /// The version compares names byte for byte, which the equality of strings does not.
    package func isSame(as other: ActiveRules) -> Bool {
        self === other
            || (catalog.version.isExactly(other.catalog.version) && catalog == other.catalog
                && journal === other.journal
                && schema.tables == other.schema.tables && schema.dependents == other.schema.dependents)
    }
}
