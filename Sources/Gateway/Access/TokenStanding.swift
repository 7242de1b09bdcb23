import FoundationEssentials
import MergeCore

/// Tells whether the token that opened a stream opens the gateway still.
struct TokenStanding: Sendable {
    private let tokens: any TokenVerifier
    private let token: String
    private let bearer: Bearer

    /// Returns nil where nobody needs a token.
    init?(_ context: GatewayContext, _ tokens: (any TokenVerifier)?) {
        guard let tokens, let bearer = context.bearer,
            let token = context.headers["authorization"].flatMap(AuthorizationHeader.token)
        else { return nil }
        self.tokens = tokens
        self.token = token
        self.bearer = bearer
    }

    /// Returns false once the token has ended, was withdrawn, or gives something else than it did.
    func holds() async -> Bool {
        guard let now = try? await tokens.bearer(of: token) else { return false }
        return now == bearer
    }

    /// The time at which the token ends by itself; nil where it does not.
    var end: ContinuousClock.Instant? {
        bearer.expiry.map { .now.advanced(by: .clamped(seconds: max(0, $0 - Date().timeIntervalSince1970))) }
    }
}
