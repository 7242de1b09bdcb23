/// Tells whose a token is.
package protocol TokenVerifier: Sendable {
    /// Returns the bearer of a token.
    ///
    /// - Throws: `TokenRefusal` where it opens nothing.
    func bearer(of token: String) async throws(TokenRefusal) -> Bearer

    /// Returns true where a token is good as far as can be told without waiting.
    ///
    /// Only with such a token is a large body kept until its request is answered.
    func seemsGood(_ token: String) -> Bool

    /// A sentence for operators on what is wrong with the tokens; nil where nothing is.
    var trouble: String? { get }
}
