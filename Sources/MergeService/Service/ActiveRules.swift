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
    /// The names of the resources whose rules do not fit the schema for now.
    ///
    /// Their rules are those of an earlier reading.
    package let outOfService: Set<String>
    let footprints: Footprints
    let views: TableViews
    let keptColumns: KeptColumns

    /// - Parameter dialect: of the database that the schema is of.
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

    /// Returns true if nothing differs that a push, a read or an answer depends on: rules with their lines, schema, journal.
    ///
    /// The version compares names byte for byte, which the equality of strings does not.
    package func isSame(as other: ActiveRules) -> Bool {
        self === other
            || (catalog.version.isExactly(other.catalog.version) && catalog == other.catalog
                && journal === other.journal && outOfService == other.outOfService
                && schema.tables == other.schema.tables && schema.dependents == other.schema.dependents)
    }

    /// Checks that a request may use a resource.
    ///
    /// - Throws: a 503 `Problem` with the code `resource-unavailable` if its rules do not fit the schema for now.
    package func requireInService(_ resource: Resource) throws(Problem) {
        guard outOfService.contains(resource.name) else { return }
        throw Problem(
            .resourceUnavailable,
            detail:
                "The rules of the resource “\(resource.name)” do not fit the database for now. Nothing was written.",
            retry: .later(.outOfService, after: 5))
    }
}
