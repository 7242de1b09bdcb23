/// The change to one group of a row that exists.
package struct GroupEdit: Sendable, Hashable {
    package let group: Int
    package let base: Base
    package let edited: FieldValues
    package let path: WirePath
    /// `old` names the fields even where the group has only one.
    package let isRowForm: Bool

    package init(group: Int, base: Base, edited: FieldValues, path: WirePath, isRowForm: Bool) {
        self.group = group
        self.base = base
        self.edited = edited
        self.path = path
        self.isRowForm = isRowForm
    }
}
