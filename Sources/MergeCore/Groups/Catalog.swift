/// All resources that a gateway serves.
package struct Catalog: Sendable, Hashable {
    /// The resources in the order of their files.
    package let resources: [Resource]
    /// A digest of the meaning of all rule files and of the types of their columns.
    package let version: String
    /// True if a resource has private fields.
    package let hasPrivateFields: Bool
    /// True if a resource has access rules.
    package let hasAccessRules: Bool
    private let byName: NameIndex

    /// Creates a catalog of resources with unique names.
    package init(resources: [Resource], version: String) {
        self.resources = resources
        self.version = version
        hasPrivateFields = resources.contains(where: \.hasPrivateFields)
        hasAccessRules = resources.contains { $0.access != nil }
        byName = NameIndex(resources.map(\.name))
    }

    /// Returns the resource with this name, if any.
    package subscript(name: String) -> Resource? { byName[name].map { resources[$0] } }
}
