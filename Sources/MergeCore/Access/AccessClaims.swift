/// The claims of a token: the members of a JSON object.
package struct AccessClaims: Sendable, Hashable {
    private let members: [ExactText: Scalar]

    /// Creates claims from the members of an object.
    package init(_ members: [ExactText: Scalar] = [:]) {
        self.members = members
    }

    /// True if there are no claims.
    package var isEmpty: Bool { members.isEmpty }

    /// The names of all claims, sorted.
    package var names: [ExactText] { members.keys.sorted() }

    /// Returns the value of a claim, or nil if it is missing.
    package subscript(name: String) -> Scalar? { members[ExactText(name)] }
}
