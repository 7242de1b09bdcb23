import HTTPTypes
import Hummingbird

/// Lets web pages of the allowed origins use the gateway from a browser (CORS, fetch.spec.whatwg.org section 3.3).
///
/// A page of any other origin gets the answer that a program gets, without the headers that would let its script read it.
struct CrossOrigin: RouterMiddleware {
    private let origins: Set<String>
    private let preflight: HTTPFields

    /// Browsers look for these in the answer itself, not in the preflight.
    private static let exposed = "ETag, Idempotent-Replayed, Retry-After, X-Request-ID"
    private static let allowed = [
        "Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID",
        "X-Client", "X-Device-ID",
    ]

    init(_ origins: [WebOrigin]) {
        self.origins = Set(origins.map(\.description))
        preflight = [
            .accessControlAllowHeaders: Self.allowed.joined(separator: ", "),
            .accessControlAllowMethods: "GET, HEAD, POST",
            .accessControlMaxAge: "600",
        ]
    }

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let origin = context.headers["origin"].flatMap { origins.contains($0) ? $0 : nil }
        var response: Response
        if origin != nil, request.method == .options {
            response = Response(status: .noContent, headers: preflight)
        } else {
            response = try await next(request, context)
        }
        // Also where no origin is named: what a cache keeps of it is no answer to a page.
        response.headers[.vary] = response.headers[.vary].map { $0 + ", Origin" } ?? "Origin"
        if let origin {
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] = Self.exposed
        }
        return response
    }
}
