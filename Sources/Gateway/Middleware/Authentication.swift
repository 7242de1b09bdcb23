import HTTPTypes
import Hummingbird
import MergeCore

/// Lets in who has a token, and keeps the addresses for probes open.
struct Authentication: RouterMiddleware {
    /// nil where the gateway listens on loopback addresses without tokens.
    let tokens: TokenFile?

    private static let open: Set<String> = ["/healthz", "/readyz"]

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard let tokens, !Self.open.contains(request.uri.path) else { return try await next(request, context) }
        guard let bearer = context.headers["authorization"].flatMap({ tokens.bearer(header: $0) }) else {
            throw Problem(
                status: 401, code: "no-token", title: "A token is needed",
                detail: "Send “Authorization: Bearer TOKEN” with a token that the gateway knows.")
        }
        let needed: AccessRight = request.method == .get || request.method == .head ? .read : .write
        guard bearer.rights.contains(needed) else {
            throw Problem(
                status: 403, code: "no-right", title: "The token lacks a right",
                detail: "The token may not \(needed.rawValue).")
        }
        var context = context
        context.bearer = bearer
        return try await next(request, context)
    }
}
