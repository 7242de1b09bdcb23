import Logging

/// Verifies tokens that an identity provider signed (RFC 7519, RFC 8725).
///
/// jwt-kit computes signatures and nothing else: which key, which algorithm and which claims count is decided here,
/// before a key is asked.
final class JWTVerifier: Sendable {
    /// Seconds since 1970.
    typealias Clock = @Sendable () -> Double

    private let claims: JWTClaims
    /// nil where only the secret counts.
    private let ring: KeyRing?
    private let secret: SigningKey?
    private let verified: VerifiedTokens
    private let now: Clock

    init(
        claims: JWTClaims, ring: KeyRing?, secret: SigningKey?, verified: VerifiedTokens, now: @escaping Clock
    ) {
        self.claims = claims
        self.ring = ring
        self.secret = secret
        self.verified = verified
        self.now = now
    }

    /// A sentence for operators on the keys; nil where nothing is wrong.
    var trouble: String? { ring?.trouble }

    /// Returns the bearer of a token.
    ///
    /// - Throws: `TokenRefusal` that names the check that failed.
    func bearer(of token: String) async throws(TokenRefusal) -> Bearer {
        try await bearer(of: token) { [ring] kid in await ring?.keys(named: kid) ?? [] }
    }

    /// Returns true for a token that is good by the keys that are known.
    func seemsGood(_ token: String) -> Bool {
        guard token.utf8.count <= JWTParts.longest else { return false }
        let time = now()
        if (try? verified.bearer(of: VerifiedTokens.Digest(token), now: time)) ?? nil != nil { return true }
        guard let parts = try? JWTParts(token) else { return false }
        let keys = parts.algorithm == .hs256 ? [secret].compactMap(\.self) : ring?.knownKeys(named: parts.kid) ?? []
        return (try? check(parts, by: keys, at: time)) != nil
    }

    private func bearer(
        of token: String, keys: (String?) async -> [SigningKey]
    ) async throws(TokenRefusal) -> Bearer {
        guard token.utf8.count <= JWTParts.longest else { throw .tooLong }
        let digest = VerifiedTokens.Digest(token)
        if let known = try verified.bearer(of: digest, now: now()) { return known }
        let generation = verified.generation
        let parts = try JWTParts(token)
        // A secret is shared by two, so nothing that anybody can read ever stands for it.
        let known = parts.algorithm == .hs256 ? [secret].compactMap(\.self) : await keys(parts.kid)
        let time = now()
        let bearer = try check(parts, by: known, at: time)
        verified.keep(bearer, of: digest, since: generation, now: time)
        return bearer
    }

    private func check(_ parts: JWTParts, by keys: [SigningKey], at time: Double) throws(TokenRefusal) -> Bearer {
        guard !keys.isEmpty else { throw .key }
        let fitting = keys.filter { $0.takes(parts.algorithm) }
        guard !fitting.isEmpty else { throw .algorithm }
        guard fitting.contains(where: { $0.verifies(parts.signature, over: parts.signed, by: parts.algorithm) }) else {
            throw .signature
        }
        let checked = try claims.check(parts.payload, now: time)
        return try claims.bearer(checked.claims, expiry: checked.expiry)
    }
}
