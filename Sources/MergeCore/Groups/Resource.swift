/// A kind of record: what one merge-rule file describes, bound to the live schema.
///
/// An object that never changes, like its sections.
package final class Resource: Sendable, Hashable {
    package let name: String
    package let description: String?
    /// The first is the root.
    package let sections: [Section]
    private let sectionsByName: NameIndex

    /// nil where there is no root section at the front.
    package init?(name: String, description: String?, sections: [Section]) {
        guard sections.first?.kind == .root, sections.dropFirst().allSatisfy({ $0.kind != .root }) else { return nil }
        self.name = name
        self.description = description
        self.sections = sections
        isAtomic = sections.allSatisfy(\.isTransactional)
        hasPrivateFields = sections.contains { $0.hasPrivateFields || $0.readOnly.contains(where: \.isPrivate) }
        sectionsByName = NameIndex(sections.map(\.name))
    }

    package static func == (a: Resource, b: Resource) -> Bool {
        a === b || (a.name == b.name && a.description == b.description && a.sections == b.sections)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    package var root: Section { sections[0] }

    /// Some of its values are kept as digests alone.
    package let hasPrivateFields: Bool

    /// A push to it happens whole or not at all, whatever breaks.
    package let isAtomic: Bool

    /// Returns the position of the section of this name; nil where there is none.
    package func section(named name: String) -> Int? { sectionsByName[name] }
}

/// All resources that a gateway serves, with the version that clients may name.
package struct Catalog: Sendable, Hashable {
    package let resources: [Resource]
    /// A digest of the meaning of all rule files and the types of the columns they name.
    package let version: String
    private let byName: NameIndex
    /// Some values of its resources are kept as digests alone.
    package let hasPrivateFields: Bool

    package init(resources: [Resource], version: String) {
        self.resources = resources
        self.version = version
        hasPrivateFields = resources.contains(where: \.hasPrivateFields)
        byName = NameIndex(resources.map(\.name))
    }

    /// Returns the resource of this name; nil where there is none.
    package subscript(name: String) -> Resource? { byName[name].map { resources[$0] } }
}
