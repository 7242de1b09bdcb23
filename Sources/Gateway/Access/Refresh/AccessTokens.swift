import FoundationEssentials
import MergeCore
import MergeWire
import Operations
import Synchronization

/// The gateway's own access tokens, for clients with a refresh token in the tokens file.
///
/// Rights and claims come from the current line of the refresh token. A withdrawn or changed line therefore ends its
/// access tokens.
package final class AccessTokens: Sendable {
    /// The proof that a token belongs to a line, valid as long as the file contains the line.
    private struct Proof {
        let line: Bearer
        let bearer: Bearer
    }

    private let place: TokenKeyPlace
    private let keys: Mutex<TokenKeys>
    private let verifiedTokens = VerifiedTokens<Proof>()
    private let file: KnownTokens
    private let now: JWTVerifier.Clock
    let lifetime: Int

    private static let issuer = "urn:fieldmerge:gateway"

    /// Makes a service that issues and verifies access tokens.
    ///
    /// - Parameters:
    ///   - place: the place of the signing keys. A missing file is created.
    ///   - lifetime: the seconds for which a token is valid.
    package convenience init(
        keys place: TokenKeyPlace, file: KnownTokens, lifetime: Int
    ) async throws(KeySetError) {
        try await self.init(keys: place, file: file, lifetime: lifetime) { Date().timeIntervalSince1970 }
    }

    init(
        keys place: TokenKeyPlace, file: KnownTokens, lifetime: Int, now: @escaping JWTVerifier.Clock
    ) async throws(KeySetError) {
        let path = place.path(isNeeded: file.hasRefresh)
        let read = if let path { try await TokenKeys.read(path) } else { try await TokenKeys.ofProcess() }
        keys = Mutex(read)
        self.place = place
        self.file = file
        self.lifetime = lifetime
        self.now = now
    }

    /// Reads the key file again.
    ///
    /// After an error the old keys remain valid.
    ///
    /// - Returns: false if the keys have not changed.
    package func reload() async throws(KeySetError) -> Bool {
        guard let path = place.path(isNeeded: file.hasRefresh) else { return false }
        let isFirst = keys.withLock { $0.isOfProcess }
        // A missing file is an error here: other gateways would not have a new key.
        let read = isFirst ? try await TokenKeys.read(path) : try await TokenKeys(path: path)
        let isOther = keys.withLock { keys in
            defer { keys = read }
            return keys.names != read.names
        }
        if isOther { verifiedTokens.forget() }
        return isOther
    }

    // MARK: Issuing

    /// Returns a new access token for the bearer of a refresh token.
    ///
    /// - Throws: a 401 `Problem` if the refresh token was withdrawn.
    package func issue(to bearer: Bearer) throws -> String {
        guard let key = keys.withLock({ $0.signing }), let kid = key.kid,
            let line = file.refreshLine(named: bearer.name)
        else {
            throw Problem(.noToken, detail: "The refresh token was revoked or has expired.")
        }
        let time = Int(clamping: now())
        let header = Array("{\"alg\":\"HS256\",\"kid\":\"\(kid)\",\"typ\":\"at+jwt\"}".utf8)
        let payload = TokenPayload(
            issuer: Self.issuer, subject: bearer.name, line: line.mark, issued: time, expiry: time + lifetime
        ).json(roles: bearer.roles, claims: bearer.claims)
        let text = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        return text + "." + Base64URL.encode(try key.sign(text.utf8))
    }

    // MARK: Verifying

    /// Returns the bearer of an already verified token; nil if it is not in the cache or its line has changed.
    ///
    /// - Throws: `TokenRefusal` if the token has expired.
    func verified(_ mark: TokenMark) throws(TokenRefusal) -> Bearer? {
        guard let proof = try verifiedTokens.proof(of: mark, now: now()) else { return nil }
        if file.refreshLine(named: proof.bearer.name)?.bearer === proof.line { return proof.bearer }
        verifiedTokens.forget(mark)
        return nil
    }

    /// Returns the bearer of an access token; nil if another issuer signed it.
    func bearer(of token: String, _ mark: TokenMark) throws(TokenRefusal) -> Bearer? {
        let generation = verifiedTokens.generation
        guard let parts = try? JWTParts(token), parts.algorithm == .hs256, let kid = parts.kid,
            let key = keys.withLock({ $0[kid] })
        else { return nil }
        guard key.verifies(parts.signature, over: parts.signed, by: .hs256) else { throw .signature }
        guard let claims = try? ClaimsDecoder.decode(parts.payload), claims["iss"] == .text(Self.issuer),
            case .text(let name)? = claims["sub"], case .text(let lineMark)? = claims["line"],
            case .integer(let second)? = claims["exp"]
        else { throw .claims }
        let (time, end) = (now(), Double(second))
        guard time < end else { throw .expired }
        guard let line = file.refreshLine(named: name), line.mark == lineMark else { throw .withdrawn }
        let bearer = line.accessBearer(expiry: end)
        verifiedTokens.keep(
            Proof(line: line.bearer, bearer: bearer), of: mark, until: end, since: generation, now: time)
        return bearer
    }
}

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
    /// Returns the bearer of an access token.
    ///
    /// It has the rights that the line lists with `refresh`, or else those to read and write.
    func accessBearer(expiry: Double) -> Bearer {
        let rights = bearer.rights.subtracting([.refresh])
        return Bearer(
            name: bearer.name, rights: rights.isEmpty ? [.read, .write] : rights, roles: bearer.roles,
            claims: bearer.claims, expiry: expiry)
    }
}
