package import MergeCore
package import Operations
import MergeService
import Synchronization

/// The sender of a request, by its token.
package final class Bearer: Sendable, Hashable {
    /// The name of the sender in the journal.
    package let name: String
    /// The rights of the token.
    package let rights: Set<AccessRight>
    /// The roles of the token.
    package let roles: Set<ExactText>
    /// The claims of the token.
    package let claims: AccessClaims
    /// The owner of the idempotency keys: the name, with the issuer of a JWT.
    package let owner: String
    /// The owner as the header `X-Who` encodes it.
    let who: String
    /// The expiry of the token in seconds since 1970, or nil.
    package let expiry: Double?
    /// The rights that were computed last, with the version of the rules.
    let memo = Mutex<(version: String, access: ClientAccess)?>(nil)

    /// Makes a bearer.
    ///
    /// - Parameter issuer: the issuer of a JWT; nil for a token of the tokens file.
    package init(
        name: String, rights: Set<AccessRight>, roles: Set<ExactText> = [], claims: AccessClaims = AccessClaims(),
        issuer: String? = nil, expiry: Double? = nil
    ) {
        self.name = name
        self.rights = rights
        self.roles = roles
        self.claims = claims
        // Names in the tokens file have no line break, so the two forms cannot collide.
        owner = issuer.map { $0 + "\n" + name } ?? name
        who = WhoHeader.value(of: owner)
        self.expiry = expiry
    }

    /// True if the bearer has the right or the role of an operator.
    var isOperator: Bool { rights.contains(.operate) || roles.contains(Self.operatorRole) }

    private static let operatorRole = ExactText(AccessRight.operate.rawValue)

    /// Compares everything that the token contains.
    package static func == (a: Bearer, b: Bearer) -> Bool {
        // Two names may differ only in their Unicode form.
        ExactText(a.name) == ExactText(b.name) && ExactText(a.owner) == ExactText(b.owner) && a.rights == b.rights
            && a.roles == b.roles && a.claims == b.claims && a.expiry == b.expiry
    }

    /// Hashes the owner and the rights, which distinguish most bearers.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(owner)
        hasher.combine(rights)
    }
}
