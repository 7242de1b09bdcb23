package import Operations

/// The one who sends a request, as its token tells.
///
/// An object, because it goes from hand to hand with each request.
package final class Bearer: Sendable, Hashable {
    /// The name under which the journal knows the sender.
    package let name: String
    /// The rights of the token.
    package let rights: Set<AccessRight>

    /// Makes a bearer with a name and rights.
    package init(name: String, rights: Set<AccessRight>) {
        self.name = name
        self.rights = rights
    }

    /// Compares name and rights.
    package static func == (a: Bearer, b: Bearer) -> Bool { a.name == b.name && a.rights == b.rights }

    /// Hashes what is compared.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(rights)
    }
}
