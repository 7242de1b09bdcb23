import Logging

/// Verifies tokens of an identity provider (RFC 7519, RFC 8725).
///
/// jwt-kit only computes signatures. The gateway selects key and algorithm before, and checks the claims after.
final class JWTVerifier: Sendable {
    /// Seconds since 1970.
    typealias Clock = @Sendable () -> Double

    private let claims: JWTClaims
    /// nil if only the secret is used.
    private let ring: KeyRing?
    private let secret: SharedSecret?
    private let verifiedTokens: VerifiedTokens<Bearer>
    private let now: Clock

    init(
        claims: JWTClaims, ring: KeyRing?, secret: SharedSecret?, verified: VerifiedTokens<Bearer>, now: @escaping Clock
    ) {
        self.claims = claims
        self.ring = ring
        self.secret = secret
        verifiedTokens = verified
        self.now = now
    }

    /// A sentence for operators about a fault of the keys, or nil.
    var trouble: String? { ring?.trouble ?? secret?.trouble }

    /// Returns the bearer of an already verified token, or nil.
    ///
    /// - Throws: `TokenRefusal` if the token has expired.
    func verified(_ mark: TokenMark) throws(TokenRefusal) -> Bearer? {
        try verifiedTokens.proof(of: mark, now: now())
    }

    func bearer(of token: String, _ mark: TokenMark) async throws(TokenRefusal) -> Bearer {
        let generation = verifiedTokens.generation
        let parts = try JWTParts(token)
        let named = parts.algorithm == .hs256 ? knownKeys(of: parts) : await ring?.keys(named: parts.kid) ?? []
        let time = now()
        let (bearer, end) = try check(parts, by: candidates(for: parts, among: named), at: time)
        verifiedTokens.keep(bearer, of: mark, until: end, since: generation, now: time)
        return bearer
    }

    /// Returns true if the token is valid by the keys in memory.
    func seemsGood(_ token: String) -> Bool {
        guard let parts = try? JWTParts(token) else { return false }
        return (try? check(parts, by: candidates(for: parts, among: knownKeys(of: parts)), at: now())) != nil
    }

    private func knownKeys(of parts: JWTParts) -> [SigningKey] { ring?.knownKeys(named: parts.kid) ?? [] }

    /// Returns the keys that may have signed a token.
    ///
    /// The operator's secret has no `kid`. It never verifies a token whose `kid` names a public key, and a public key
    /// never serves as a secret.
    ///
    /// - Parameter named: the public keys with the `kid` of the token; all keys if it has none.
    private func candidates(for parts: JWTParts, among named: [SigningKey]) -> [SigningKey] {
        guard parts.algorithm == .hs256, parts.kid == nil || named.isEmpty else { return named }
        return [secret?.key].compactMap(\.self)
    }

    private func check(_ parts: JWTParts, by keys: [SigningKey], at time: Double) throws(TokenRefusal) -> (
        bearer: Bearer, end: Double
    ) {
        guard !keys.isEmpty else { throw .key }
        let fitting = keys.filter { $0.takes(parts.algorithm) }
        guard !fitting.isEmpty else { throw .algorithm }
        guard fitting.contains(where: { $0.verifies(parts.signature, over: parts.signed, by: parts.algorithm) }) else {
            throw .signature
        }
        let checked = try claims.check(parts.payload, now: time)
        return (try claims.bearer(checked.claims, expiry: checked.expiry), checked.expiry)
    }
}
