/// Knows every kind of token: those of the operator's file, access tokens of the gateway's own, and those of an identity
/// provider.
package final class AccessVerifier: TokenVerifier {
    private let file: KnownTokens?
    private let jwt: JWTVerifier?
    private let own: AccessTokens?

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
        guard JWTParts.isLike(token) else { return try known(token, or: .unknown) }
        if let bearer = try own?.bearer(of: token) { return bearer }
        guard let jwt else { return try known(token, or: .unknown) }
        do throws(TokenRefusal) {
            return try await jwt.bearer(of: token)
        } catch {
            // An operator may have taken anything for a token.
            return try known(token, or: error)
        }
    }

    private func known(_ token: String, or refusal: TokenRefusal) throws(TokenRefusal) -> Bearer {
        guard let bearer = file?.find(token) else { throw refusal }
        return bearer
    }

    /// Returns true for a token that is good as far as can be told without waiting.
    package func seemsGood(_ token: String) -> Bool {
        if JWTParts.isLike(token) {
            if let own, (try? own.bearer(of: token)) ?? nil != nil { return true }
            if let jwt, jwt.seemsGood(token) { return true }
        }
        return file?.seemsGood(token) ?? false
    }
}
