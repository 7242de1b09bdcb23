/// The parts of a section that clients see.
package struct SectionFields: Sendable {
    /// The fields that clients may write, in the order of the groups.
    package let fields: [Field]
    let groups: [Group]
    let readOnly: [Field]

    /// Creates the fields of a section, whose groups are consecutive and contain all written fields.
    package init(_ fields: [Field] = [], groups: [Group] = [], readOnly: [Field] = []) {
        self.fields = fields
        self.groups = groups
        self.readOnly = readOnly
    }
}
