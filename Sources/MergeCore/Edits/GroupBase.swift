/// The base of a group of a row that is deleted.
package struct GroupBase: Sendable, Hashable {
    package let group: Int
    package let base: FieldValues

    package init(group: Int, base: FieldValues) {
        self.group = group
        self.base = base
    }
}
