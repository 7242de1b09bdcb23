/// The change to one group of a row that exists.
package struct GroupEdit: Sendable, Hashable {
    /// The position of the group in the section's `groups`.
    package let group: Int
    /// The values that the client began with, or their digest.
    package let base: Base
    /// The values that it wants, every field of the group.
    package let edited: FieldValues
    /// The place of the group in the body.
    package let path: WirePath
    /// `old` names the fields even where the group has only one.
    package let isRowForm: Bool

    /// Makes the change to one group.
    package init(group: Int, base: Base, edited: FieldValues, path: WirePath, isRowForm: Bool) {
        self.group = group
        self.base = base
        self.edited = edited
        self.path = path
        self.isRowForm = isRowForm
    }
}
