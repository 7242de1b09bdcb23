/// Knows every kind of token: those of the operator's file, access tokens of the gateway's own, and those of an identity
/// provider.
package final class AccessVerifier: TokenVerifier {
    private let file: KnownTokens?
    private let jwt: JWTVerifier?
    private let own: AccessTokens?

    /// The most bytes of a token; one that is longer is not even looked for.
    private static let longest = 8_192

    /// Lets in the tokens of a file, of an identity provider and of the gateway's own; nil lets in none of a kind.
    package init(file: KnownTokens?, jwt: JWTAccess?, own: AccessTokens? = nil) {
        self.own = own
        self.file = file
        self.jwt = jwt?.verifier
    }

    /// A sentence for operators on the file or the keys; nil where nothing is wrong.
    package var trouble: String? { file?.trouble ?? jwt?.trouble }

    /// Returns the bearer of a token.
    ///
    /// - Throws: `TokenRefusal` that names the check that failed.
    package func bearer(of token: String) async throws(TokenRefusal) -> Bearer {
        guard token.utf8.count <= Self.longest else { throw .tooLong }
        guard JWTParts.isLike(token) else { return try known(token, or: .unknown) }
        let mark = TokenMark(token)
        if let bearer = try verified(mark) { return bearer }
        if let bearer = try own?.bearer(of: token, mark) { return bearer }
        guard let jwt else { return try known(token, or: .unknown) }
        do throws(TokenRefusal) {
            return try await jwt.bearer(of: token, mark)
        } catch {
            // An operator may have taken anything for a token.
            return try known(token, or: error)
        }
    }

    /// Returns the bearer of a token that was verified before; nil where it is not known.
    private func verified(_ mark: TokenMark) throws(TokenRefusal) -> Bearer? {
        if let bearer = try own?.verified(mark) { return bearer }
        return try jwt?.verified(mark)
    }

    private func known(_ token: String, or refusal: TokenRefusal) throws(TokenRefusal) -> Bearer {
        guard let bearer = file?.find(TokenDigest(token)) else { throw refusal }
        return bearer
    }

    /// Returns true for a token that is good as far as can be told without waiting.
    package func seemsGood(_ token: String) -> Bool {
        guard token.utf8.count <= Self.longest else { return false }
        if JWTParts.isLike(token) {
            let mark = TokenMark(token)
            if ((try? verified(mark)) ?? nil) != nil { return true }
            if let own, ((try? own.bearer(of: token, mark)) ?? nil) != nil { return true }
            if let jwt, jwt.seemsGood(token) { return true }
        }
        return file?.seemsGood(token) ?? false
    }
}
