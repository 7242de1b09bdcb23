/// A named value of a JSON object.
package struct JSONMember: Sendable, Hashable {
    package let name: ExactText
    package let value: JSONTree

    package init(name: ExactText, value: JSONTree) {
        self.name = name
        self.value = value
    }
}
