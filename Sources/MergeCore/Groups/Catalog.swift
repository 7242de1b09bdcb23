/// All resources that a gateway serves, with the version that clients may name.
package struct Catalog: Sendable, Hashable {
    /// The resources in the order of their files.
    package let resources: [Resource]
    /// A digest of the meaning of all rule files and the types of the columns they name.
    package let version: String
    private let byName: [String: Int]

    /// Makes a catalog of resources, each with a name of its own.
    package init(resources: [Resource], version: String) {
        self.resources = resources
        self.version = version
        byName = Dictionary(resources.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the resource of this name; nil where there is none.
    package subscript(name: String) -> Resource? { byName[name].map { resources[$0] } }
}
