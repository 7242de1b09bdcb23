import HTTPTypes
import Hummingbird
import MergeCore
import MergeWire
import NIOCore

/// Answers in the shapes that PROTOCOL section 5 knows.
enum Reply {
    private static let packingPays = 1_024

    static func json(
        _ body: [UInt8], to request: Request, status: HTTPResponse.Status = .ok, type: String = "application/json",
        headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.vary] = "Accept-Encoding"
        var bytes = body
        if body.count >= packingPays, acceptsGzip(request), let packed = Gzip.pack(body) {
            bytes = packed
            headers[.contentEncoding] = "gzip"
        }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func problem(_ problem: Problem, to request: Request) -> Response {
        var headers: HTTPFields = [:]
        if let seconds = problem.retryAfter { headers[.retryAfter] = String(seconds) }
        if problem.status == 401 { headers[.wwwAuthenticate] = "Bearer realm=\"fieldmerge\"" }
        return json(
            ProblemEncoder.encode(problem), to: request, status: HTTPResponse.Status(code: problem.status),
            type: "application/problem+json", headers: headers)
    }

    /// Whether `Accept-Encoding` allows gzip (RFC 9110 section 12.5.3).
    static func acceptsGzip(_ request: Request) -> Bool {
        guard let accepted = request.headers[.acceptEncoding] else { return false }
        for entry in accepted.split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.trimmingSpaces.lowercased() }
            guard parts.first == "gzip" || parts.first == "*" else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return quality > 0
        }
        return false
    }
}
