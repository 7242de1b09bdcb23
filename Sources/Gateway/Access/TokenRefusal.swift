/// The reason for the refusal of a token, for the log only.
///
/// All refusals get the same answer.
package enum TokenRefusal: String, Error, Sendable {
    case missing = "no token"
    case unknown = "unknown token"
    case tooLong = "token too long"
    case malformed = "token malformed"
    case algorithm = "token's algorithm not allowed"
    case critical = "token's header has crit"
    case type = "token of another type"
    case key = "token's key unknown"
    case signature = "token's signature wrong"
    case claims = "token's claims malformed"
    case issuer = "token of another issuer"
    case audience = "token for another audience"
    case noEnd = "token without exp"
    case expired = "token expired"
    case early = "token not valid yet"
    case subject = "token without a usable sub"
    /// The tokens file no longer contains the refresh token.
    case withdrawn = "token's refresh token withdrawn"
    /// Only the address for new access tokens accepts a refresh token.
    case refreshOnly = "refresh token at another address"
}
