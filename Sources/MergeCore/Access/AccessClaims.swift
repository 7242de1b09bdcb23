/// The claims that a token makes about its bearer: the members of a JSON object.
package struct AccessClaims: Sendable, Hashable {
    private let members: [ExactText: Scalar]

    /// Makes claims of the members of an object.
    package init(_ members: [ExactText: Scalar] = [:]) {
        self.members = members
    }

    /// Returns true where nothing is claimed.
    package var isEmpty: Bool { members.isEmpty }

    /// The names of all claims, in order.
    package var names: [ExactText] { members.keys.sorted() }

    /// Returns the value of a claim; nil where it is missing.
    package subscript(name: String) -> Scalar? { members[ExactText(name)] }
}
