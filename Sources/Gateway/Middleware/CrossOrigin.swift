import HTTPTypes
import Hummingbird

/// Allows browsers to use the gateway from pages of the allowed origins (CORS, fetch.spec.whatwg.org section 3.3).
///
/// Other pages get the same answer without the headers that make it readable for scripts.
struct CrossOrigin {
    private let origins: Set<String>
    private let preflight: HTTPFields

    /// Browsers read these from the answer, not from the preflight.
    private static let exposed = "Date, ETag, Idempotent-Replayed, Retry-After, X-Request-ID, X-Who"
    private static let allowed = [
        "Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID",
        "X-Client", "X-Device-ID", "X-Who",
    ]

    init(_ origins: [WebOrigin]) {
        self.origins = Set(origins.map(\.description))
        preflight = [
            .accessControlAllowHeaders: Self.allowed.joined(separator: ", "),
            .accessControlAllowMethods: "GET, HEAD, POST",
            .accessControlMaxAge: "600",
        ]
    }

    /// Returns the answer to a preflight of an allowed origin; nil for other requests.
    func preflight(of request: Request, _ context: GatewayContext) -> Response? {
        guard request.method == .options, origin(of: context) != nil else { return nil }
        return Response(status: .noContent, headers: preflight)
    }

    /// Adds the headers that let a page read the answer.
    func mark(_ response: inout Response, to context: GatewayContext) {
        // Always, so that no cache returns an answer without CORS headers to a page.
        response.headers[.vary] = response.headers[.vary].map { $0 + ", Origin" } ?? "Origin"
        guard let origin = origin(of: context) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposed
    }

    /// Returns the origin of a request if it is allowed.
    private func origin(of context: GatewayContext) -> String? {
        context.headers["origin"].flatMap { origins.contains($0) ? $0 : nil }
    }
}
