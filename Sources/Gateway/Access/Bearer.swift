package import MergeCore
package import Operations
import MergeService
import Synchronization

/// The one who sends a request, as its token tells.
///
/// An object, because it goes from hand to hand with each request.
package final class Bearer: Sendable, Hashable {
    /// The name under which the journal knows the sender.
    package let name: String
    /// The rights of the token.
    package let rights: Set<AccessRight>
    /// The roles that the token gives.
    package let roles: Set<ExactText>
    /// The claims that the token makes.
    package let claims: AccessClaims
    /// The one to whom the keys of pushes belong: the name alone, or a name that another one issued.
    package let owner: String
    /// The owner as the header `X-Who` has it.
    let who: String
    /// Seconds since 1970 at which the token ends; nil where it has no end of its own.
    package let expiry: Double?
    /// The rights under the rules of a version, as they were worked out last.
    let memo = Mutex<(version: String, access: ClientAccess)?>(nil)

    /// Makes a bearer.
    ///
    /// - Parameter issuer: the one who vouches for the name; nil where the operator's own file does.
    package init(
        name: String, rights: Set<AccessRight>, roles: Set<ExactText> = [], claims: AccessClaims = AccessClaims(),
        issuer: String? = nil, expiry: Double? = nil
    ) {
        self.name = name
        self.rights = rights
        self.roles = roles
        self.claims = claims
        // No name in a file has a line break.
        owner = issuer.map { $0 + "\n" + name } ?? name
        who = WhoHeader.value(of: owner)
        self.expiry = expiry
    }

    /// Returns true where the bearer may act as an operator under a right that is needed besides.
    ///
    /// The role alone goes no further than the rights of the token.
    func isOperator(beside right: AccessRight) -> Bool {
        rights.contains(.operate) || (roles.contains(Self.operatorRole) && rights.contains(right))
    }

    private static let operatorRole = ExactText(AccessRight.operate.rawValue)

    /// Compares all that a token tells.
    package static func == (a: Bearer, b: Bearer) -> Bool {
        a.name == b.name && a.rights == b.rights && a.roles == b.roles && a.claims == b.claims && a.owner == b.owner
            && a.expiry == b.expiry
    }

    /// Hashes what tells most bearers apart.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(owner)
        hasher.combine(rights)
    }
}
