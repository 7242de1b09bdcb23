/// All resources that a gateway serves, with the version that clients may name.
package struct Catalog: Sendable, Hashable {
    /// The resources in the order of their files.
    package let resources: [Resource]
    /// A digest of the meaning of all rule files and the types of the columns they name.
    package let version: String
    /// Some values of its resources are kept as digests alone.
    package let hasPrivateFields: Bool
    /// Some of its resources are not for everybody.
    package let hasAccessRules: Bool
    private let byName: NameIndex

    /// Makes a catalog of resources, each with a name of its own.
    package init(resources: [Resource], version: String) {
        self.resources = resources
        self.version = version
        hasPrivateFields = resources.contains(where: \.hasPrivateFields)
        hasAccessRules = resources.contains { $0.access != nil }
        byName = NameIndex(resources.map(\.name))
    }

    /// Returns the resource of this name; nil where there is none.
    package subscript(name: String) -> Resource? { byName[name].map { resources[$0] } }
}
