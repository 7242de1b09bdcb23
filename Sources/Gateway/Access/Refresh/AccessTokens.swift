import FoundationEssentials
import MergeCore
import MergeWire
import Operations

/// Access tokens of the gateway's own, for those who have a refresh token in the tokens file.
///
/// Such a token tells name, roles and claims to whoever reads it. What counts is the line of the refresh token as it
/// stands at each request: a line that is withdrawn or changed is so for its access tokens too.
package struct AccessTokens: Sendable {
    private let keys: TokenKeys
    private let file: KnownTokens
    private let now: JWTVerifier.Clock
    /// Seconds that a token lasts.
    let lifetime: Int

    private static let issuer = "urn:fieldmerge:gateway"

    /// Makes what issues and verifies tokens.
    ///
    /// - Parameters:
    ///   - keyFile: nil for a key that lasts as long as the process.
    ///   - makes: makes a file that is missing.
    ///   - lifetime: seconds.
    /// - Throws: `KeySetError` where the file of the key cannot be used.
    package init(
        keyFile: String?, makes: Bool, file: KnownTokens, lifetime: Int
    ) async throws(KeySetError) {
        try await self.init(keyFile: keyFile, makes: makes, file: file, lifetime: lifetime) {
            Date().timeIntervalSince1970
        }
    }

    init(
        keyFile: String?, makes: Bool, file: KnownTokens, lifetime: Int, now: @escaping JWTVerifier.Clock
    ) async throws(KeySetError) {
        if let keyFile { keys = try await TokenKeys(path: keyFile, makes: makes) } else { keys = try await TokenKeys() }
        self.file = file
        self.lifetime = lifetime
        self.now = now
    }

    // MARK: Issuing

    /// Returns a new access token for the bearer of a refresh token.
    ///
    /// - Throws: a 401 `Problem` where the refresh token has been withdrawn, and what jwt-kit throws.
    func issue(to bearer: Bearer) throws -> String {
        guard let key = keys.signing, let kid = key.kid, let line = file.refreshLine(named: bearer.name) else {
            throw Problem(.noToken, detail: "The refresh token is known no more.")
        }
        let time = Int(now())
        let header = Array("{\"alg\":\"HS256\",\"kid\":\"\(kid)\",\"typ\":\"at+jwt\"}".utf8)
        let payload = TokenPayload(
            issuer: Self.issuer, subject: bearer.name, line: line.mark, issued: time, expiry: time + lifetime
        ).json(roles: bearer.roles, claims: bearer.claims)
        let text = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return text + "." + Base64URL.encode(try key.sign(text.utf8))
    }

    // MARK: Verifying

    /// Returns the bearer of an access token; nil where another one issued it.
    ///
    /// - Throws: `TokenRefusal` that names the check that failed.
    func bearer(of token: String) throws(TokenRefusal) -> Bearer? {
        guard let parts = try? JWTParts(token), parts.algorithm == .hs256, let key = parts.kid.flatMap({ keys[$0] })
        else { return nil }
        guard key.verifies(parts.signature, over: parts.signed, by: .hs256) else { throw .signature }
        guard let claims = try? ClaimsDecoder.decode(parts.payload), claims["iss"] == .text(Self.issuer),
            case .text(let name)? = claims["sub"], case .text(let mark)? = claims["line"],
            case .integer(let end)? = claims["exp"]
        else { throw .claims }
        guard now() < Double(end) else { throw .expired }
        guard let line = file.refreshLine(named: name), line.mark == mark else { throw .withdrawn }
        return line.accessBearer(expiry: Double(end))
    }
}

/// The members of an access token.
private struct TokenPayload {
    let issuer: String
    let subject: String
    let line: String
    let issued: Int
    let expiry: Int

    func json(roles: Set<ExactText>, claims: AccessClaims) -> [UInt8] {
        ClaimsEncoder.encode(
            [
                ("iss", .text(issuer)), ("sub", .text(subject)), ("line", .text(line)),
                ("iat", .integer(Int64(issued))),
                ("exp", .integer(Int64(expiry))), ("roles", .array(roles.sorted().map { .text($0.string) })),
            ], beside: claims)
    }
}

extension TokenLine {
    /// The beginning of the token's digest, that tells a line from one of the same name that came after it.
    var mark: String { Hex.encode(hash.prefix(8)) }

    /// Returns the bearer of an access token; the rights that stand beside `refresh` are its own, or reading and
    /// writing where none does.
    func accessBearer(expiry: Double) -> Bearer {
        let rights = bearer.rights.subtracting([.refresh])
        return Bearer(
            name: bearer.name, rights: rights.isEmpty ? [.read, .write] : rights, roles: bearer.roles,
            claims: bearer.claims, expiry: expiry)
    }
}
