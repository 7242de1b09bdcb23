/// A named value of an object that arrived.
package struct ScalarMember: Sendable, Hashable {
    package let name: String
    package let value: Scalar

    package init(name: String, value: Scalar) {
        self.name = name
        self.value = value
    }
}
