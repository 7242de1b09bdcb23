import HTTPTypes
import Hummingbird
import MergeCore
import MergeWire

/// Issues access tokens for refresh tokens.
struct TokenController {
    /// nil if there are no refresh tokens.
    let tokens: AccessTokens?

    func addRoutes(to routes: inout RouteTable) {
        routes.post(Authentication.tokenAddress, need: .refresh, use: issue)
    }

    @Sendable private func issue(_ request: Request, _ context: GatewayContext) async throws -> Response {
        if case .success(let body) = context.received.body, body.readableBytes > 0 {
            throw Problem(.invalid, detail: "A request for an access token must have no body.")
        }
        guard let tokens, let bearer = context.bearer else {
            throw Problem(.noToken, detail: "The gateway has no refresh tokens.")
        }
        let body = ClaimsEncoder.encode(
            [
                ("accessToken", .text(try tokens.issue(to: bearer))), ("tokenType", .text("Bearer")),
                ("expiresIn", .integer(Int64(tokens.lifetime))),
            ], beside: AccessClaims())
        return Reply.json(body, to: context.headers, with: [.cacheControl: "no-store"])
    }
}
