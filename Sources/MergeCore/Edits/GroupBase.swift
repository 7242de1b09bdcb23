/// The base of one group of a row to delete.
package struct GroupBase: Sendable, Hashable {
    /// The position of the group in the section's `groups`.
    package let group: Int
    /// The values that the client last read.
    package let base: FieldValues

    /// Creates the base of a group.
    package init(group: Int, base: FieldValues) {
        self.group = group
        self.base = base
    }
}
