/// The change to one group of an existing row.
package struct GroupEdit: Sendable, Hashable {
    /// The position of the group in the section's `groups`.
    package let group: Int
    /// The values that the client last read, or their digest.
    package let base: Base
    /// The values that the client wants, for every field of the group.
    package let edited: FieldValues
    /// The location of the group in the body.
    package let path: WirePath
    /// True if `old` is an object even for a group of one field.
    package let isRowForm: Bool

    /// Creates the change to one group.
    package init(group: Int, base: Base, edited: FieldValues, path: WirePath, isRowForm: Bool) {
        self.group = group
        self.base = base
        self.edited = edited
        self.path = path
        self.isRowForm = isRowForm
    }
}
