/// The parts of a section that clients see.
package struct SectionFields: Sendable {
    /// The fields that are written, in the order of the groups.
    package let fields: [Field]
    let groups: [Group]
    let readOnly: [Field]

    /// Puts fields into groups.
    ///
    /// - Parameters:
    ///   - fields: those that are written, in the order of the groups.
    ///   - groups: neighbouring fields that are merged as one; together they hold all fields.
    ///   - readOnly: fields that clients are shown, and may not write.
    package init(_ fields: [Field] = [], groups: [Group] = [], readOnly: [Field] = []) {
        self.fields = fields
        self.groups = groups
        self.readOnly = readOnly
    }
}
