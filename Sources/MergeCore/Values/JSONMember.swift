/// A named value of a JSON object.
package struct JSONMember: Sendable, Hashable {
    /// The name.
    package let name: ExactText
    /// The value of the member.
    package let value: JSONTree

    /// Pairs a name with a value.
    package init(name: ExactText, value: JSONTree) {
        self.name = name
        self.value = value
    }
}
