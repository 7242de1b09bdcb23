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

    /// Names are equal if they have the same characters; Swift's `String` also equates two Unicode forms.
    package static func == (a: ScalarMember, b: ScalarMember) -> Bool {
        ExactText(a.name) == ExactText(b.name) && a.value == b.value
    }
}
