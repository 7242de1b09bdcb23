/// A kind of record: one merge-rule file, bound to the current schema.
package final class Resource: Sendable, Hashable {
    /// The name that clients use.
    package let name: String
    /// The operator's description, for readers of the rules.
    package let description: String?
    /// The sections, beginning with the root.
    package let sections: [Section]
    /// The access rules, or nil if every client may read and write the resource.
    package let access: AccessRules?
    /// The resource of the rule files that this resource replaces, if any.
    private let original: Resource?
    private let sectionsByName: NameIndex

    /// Creates a resource, or returns nil unless exactly the first section is a root.
    package init?(
        name: String, description: String?, sections: [Section], access: AccessRules? = nil,
        standingFor original: Resource? = nil
    ) {
        guard sections.first?.kind == .root, sections.dropFirst().allSatisfy({ $0.kind != .root }) else { return nil }
        self.name = name
        self.description = description
        self.sections = sections
        self.access = access
        self.original = original
        isAtomic = sections.allSatisfy(\.isTransactional)
        hasPrivateFields = sections.contains { $0.hasPrivateFields || $0.readOnly.contains(where: \.isPrivate) }
        mayBeLong = sections.contains { $0.columns.contains(where: \.type.mayBeLong) }
        hasLists = sections.contains { $0.kind == .list }
        sectionsByName = NameIndex(sections.map(\.name))
    }

    package static func == (a: Resource, b: Resource) -> Bool {
        a === b
            || (a.name == b.name && a.description == b.description && a.sections == b.sections && a.access == b.access)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The identity of the resource of the rule files, so that its cached facts apply here too.
    package var origin: ObjectIdentifier { ObjectIdentifier(original ?? self) }

    /// The section whose row is the record itself.
    package var root: Section { sections[0] }

    /// True if some values are stored only as digests.
    package let hasPrivateFields: Bool
    /// True if a record may contain long values.
    package let mayBeLong: Bool
    /// True if a record may contain many rows.
    package let hasLists: Bool

    /// True if every section's table is transactional.
    package let isAtomic: Bool

    /// Returns the position of the section with this name, if any.
    package func section(named name: String) -> Int? { sectionsByName[name] }
}
