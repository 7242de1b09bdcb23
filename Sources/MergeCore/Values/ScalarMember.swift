/// A named value of a client's object.
package struct ScalarMember: Sendable, Hashable {
    /// The name as sent.
    package let name: String
    /// The value of the member.
    package let value: Scalar

    /// Pairs a name with a value.
    package init(name: String, value: Scalar) {
        self.name = name
        self.value = value
    }
}
