import HTTPTypes
import Hummingbird

/// Lets web pages of the allowed origins use the gateway from a browser (CORS, fetch.spec.whatwg.org section 3.3).
///
/// A page of any other origin gets the answer that a program gets, without the headers that would let its script read it.
struct CrossOrigin {
    private let origins: Set<String>
    private let preflight: HTTPFields

    /// Browsers look for these in the answer itself, not in the preflight.
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

    /// Returns the answer to a preflight of an allowed origin; nil for any other request.
    func preflight(of request: Request, _ context: GatewayContext) -> Response? {
        guard request.method == .options, origin(of: context) != nil else { return nil }
        return Response(status: .noContent, headers: preflight)
    }

    /// Adds to an answer what a page needs that is to read it.
    func mark(_ response: inout Response, to context: GatewayContext) {
        // Also where no origin is named: what a cache keeps of it is no answer to a page.
        response.headers[.vary] = response.headers[.vary].map { $0 + ", Origin" } ?? "Origin"
        guard let origin = origin(of: context) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposed
    }

    /// The allowed origin of a request; nil where it names another, or none.
    private func origin(of context: GatewayContext) -> String? {
        context.headers["origin"].flatMap { origins.contains($0) ? $0 : nil }
    }
}
