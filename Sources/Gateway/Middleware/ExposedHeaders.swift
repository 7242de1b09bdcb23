import HTTPTypes
import Hummingbird

/// Lets pages of another origin read the answer's own headers; browsers look for this in the answer, not in the preflight.
struct ExposedHeaders: RouterMiddleware {
    private static let names = "ETag, Idempotent-Replayed, Retry-After, X-Request-ID"

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if context.headers["origin"] != nil { response.headers[.accessControlExposeHeaders] = Self.names }
        return response
    }
}
