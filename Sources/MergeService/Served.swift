package import MergeCore
package import RecordStore

/// What a gateway serves at one moment: the rules bound to the schema, and the schema itself.
package struct Served: Sendable, Hashable {
    package let catalog: Catalog
    package let schema: DatabaseSchema

    package init(catalog: Catalog, schema: DatabaseSchema) {
        self.catalog = catalog
        self.schema = schema
    }
}
