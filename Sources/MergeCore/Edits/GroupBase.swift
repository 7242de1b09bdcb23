/// The base of a group of a row that is deleted.
package struct GroupBase: Sendable, Hashable {
    /// The position of the group in the section's `groups`.
    package let group: Int
    /// The values that the client held.
    package let base: FieldValues

    /// Makes the base of one group.
    package init(group: Int, base: FieldValues) {
        self.group = group
        self.base = base
    }
}
