/// The parts of a section that clients see.
package struct SectionFields: Sendable {
    /// The fields that clients may write, in the order of the groups.
    package let fields: [Field]
    let groups: [Group]
    let readOnly: [Field]

    /// Creates the fields of a section.
    ///
    /// - Parameters:
    ///   - fields: The fields that clients may write, in the order of the groups.
    ///   - groups: Consecutive fields that are merged together; the groups contain all fields.
    ///   - readOnly: The fields that clients can read but not write.
    package init(_ fields: [Field] = [], groups: [Group] = [], readOnly: [Field] = []) {
        self.fields = fields
        self.groups = groups
        self.readOnly = readOnly
    }
}
