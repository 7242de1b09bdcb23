package import MergeCore
package import RecordStore

/// The rules bound to a schema, with the journal, as one unchanging value.
package final class ActiveRules: Sendable {
    /// The rules.
    package let catalog: Catalog
    /// The schema of the tables that the rules name.
    package let schema: DatabaseSchema
    /// The journal; nil if it is off, so that repeated keys are not detected.
    package let journal: Journal?
    /// The names of the resources whose rules do not fit the current schema; their rules are those of an earlier
    /// reload.
    package let outOfService: Set<String>
    let footprints: Footprints
    let views: TableViews
    let keptColumns: KeptColumns

    /// Creates active rules.
    ///
    /// - Parameter dialect: the dialect of the database.
    package init(
        catalog: Catalog, schema: DatabaseSchema, dialect: any Dialect, journal: Journal? = nil,
        outOfService: Set<String> = []
    ) {
        self.catalog = catalog
        self.outOfService = outOfService
        self.schema = schema
        self.journal = journal
        views = TableViews(catalog)
        keptColumns = KeptColumns(catalog, schema: schema)
        footprints = Footprints(catalog, schema: schema, dialect: dialect)
    }

    /// Returns true if rules with their lines, schema and journal are equal.
    ///
    /// Versions are compared byte for byte, unlike strings.
    package func isSame(as other: ActiveRules) -> Bool {
        self === other
            || (catalog.version.isExactly(other.catalog.version) && catalog == other.catalog
                && journal === other.journal && outOfService == other.outOfService
                && schema.tables == other.schema.tables && schema.dependents == other.schema.dependents)
    }

    /// Returns the columns of a table that the journal keeps of deleted rows.
    package func keptColumns(of table: TableName) -> [Column] { keptColumns[table] }

    /// Checks that the rules of a resource fit the schema.
    ///
    /// - Throws: a 503 `Problem` with the code `resource-unavailable` if they do not.
    package func requireInService(_ resource: Resource) throws(Problem) {
        guard outOfService.contains(resource.name) else { return }
        throw Problem(
            .resourceUnavailable,
            detail:
                "The rules of the resource “\(resource.name)” do not fit the database for now. Nothing was written.",
            retry: .later(.outOfService, after: 5))
    }
}
