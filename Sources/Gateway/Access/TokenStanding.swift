import FoundationEssentials
import MergeCore

/// Checks again whether the token that opened a stream is still valid.
struct TokenStanding: Sendable {
    private let tokens: any TokenVerifier
    private let token: String
    private let bearer: Bearer

    /// Returns nil if the gateway needs no token.
    init?(_ context: GatewayContext, _ tokens: (any TokenVerifier)?) {
        guard let tokens, let bearer = context.bearer,
            let token = context.headers["authorization"].flatMap(AuthorizationHeader.token)
        else { return nil }
        self.tokens = tokens
        self.token = token
        self.bearer = bearer
    }

    /// Returns false if the token has expired, was withdrawn, or has other rights now.
    func holds() async -> Bool {
        guard let now = try? await tokens.bearer(of: token) else { return false }
        return now == bearer
    }

    /// The expiry of the token, or nil.
    var end: ContinuousClock.Instant? {
        bearer.expiry.map { .now.advanced(by: .clamped(seconds: max(0, $0 - Date().timeIntervalSince1970))) }
    }
}
