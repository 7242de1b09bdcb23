/// Verifies all tokens: those of the tokens file, the gateway's own access tokens, and JWTs of an issuer.
package final class AccessVerifier: TokenVerifier {
    private let file: KnownTokens?
    private let jwt: JWTVerifier?
    private let own: AccessTokens?

    /// The maximum bytes of a token.
    private static let longest = 8_192

    /// Accepts three kinds of tokens.
    ///
    /// A parameter that is nil disables its kind.
    package init(file: KnownTokens?, jwt: JWTAccess?, own: AccessTokens? = nil) {
        self.own = own
        self.file = file
        self.jwt = jwt?.verifier
    }

    /// A sentence for operators about a fault of the file or the keys, or nil.
    package var trouble: String? { file?.trouble ?? jwt?.trouble }

    /// Returns the bearer of a token.
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
            // A token of the tokens file may look like a JWT.
            return try known(token, or: error)
        }
    }

    /// Returns the bearer of an already verified token, or nil.
    private func verified(_ mark: TokenMark) throws(TokenRefusal) -> Bearer? {
        if let bearer = try own?.verified(mark) { return bearer }
        return try jwt?.verified(mark)
    }

    private func known(_ token: String, or refusal: TokenRefusal) throws(TokenRefusal) -> Bearer {
        guard let bearer = file?.find(TokenDigest(token)) else { throw refusal }
        return bearer
    }

    /// Returns true if the token is valid by the data in memory.
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
