/// A kind of record: what one merge-rule file describes, bound to the live schema.
///
/// An object that never changes, like its sections.
package final class Resource: Sendable, Hashable {
    /// The name that clients use.
    package let name: String
    /// The operator's sentence for those who read the rules.
    package let description: String?
    /// The first is the root.
    package let sections: [Section]
    /// The rules that say which roles see and write what; nil where everybody reads and writes it.
    package let access: AccessRules?
    /// The resource of the rules that this one stands for; nil for one of the rules.
    private let original: Resource?
    private let sectionsByName: NameIndex

    /// nil where there is no root section at the front.
    ///
    /// - Parameter original: the resource of the rules that it stands for, where it is not one itself.
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

    /// The resource of the rules: what is known of that one holds also for one that stands for it.
    package var origin: ObjectIdentifier { ObjectIdentifier(original ?? self) }

    /// The section whose row is the record itself.
    package var root: Section { sections[0] }

    /// Some of its values are kept as digests alone.
    package let hasPrivateFields: Bool
    /// True where a record may hold values that are long.
    package let mayBeLong: Bool
    /// True where a record may hold many rows.
    package let hasLists: Bool

    /// A push to it happens whole or not at all, whatever breaks.
    package let isAtomic: Bool

    /// Returns the position of the section of this name; nil where there is none.
    package func section(named name: String) -> Int? { sectionsByName[name] }
}
