/// The algorithms that a token may be signed with.
enum JWTAlgorithmName: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
    /// With the operator's secret, and never with a key of a set.
    case hs256 = "HS256"
}
