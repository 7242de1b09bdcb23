/// Verifies tokens.
package protocol TokenVerifier: Sendable {
    /// Returns the bearer of a token.
    func bearer(of token: String) async throws(TokenRefusal) -> Bearer

    /// Returns true if the token is valid by the data in memory.
    ///
    /// Only requests with a valid token may have a large body.
    func seemsGood(_ token: String) -> Bool

    /// A sentence for operators about a fault of the tokens or keys, or nil.
    var trouble: String? { get }
}
