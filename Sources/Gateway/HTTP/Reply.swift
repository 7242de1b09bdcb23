import HTTPTypes
import Hummingbird
import MergeCore
import MergeWire
import NIOCore

/// Answers in the forms of Protocol.md, section 5.
enum Reply {
    private static let packingPays = 1_024
    private static let plain: HTTPFields = [.contentType: "application/json", .vary: "Accept-Encoding"]

    static func json(
        _ body: [UInt8], to headers: RequestHeaders, status: HTTPResponse.Status = .ok,
        type: String = "application/json",
        with more: HTTPFields = [:]
    ) -> Response {
        var fields: HTTPFields
        if more.isEmpty, type == "application/json" {
            fields = Self.plain
        } else {
            fields = more
            fields[.contentType] = type
            fields[.vary] = "Accept-Encoding"
        }
        var bytes = body
        if body.count >= packingPays, acceptsGzip(headers), let packed = Gzip.pack(body) {
            bytes = packed
            fields[.contentEncoding] = "gzip"
        }
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func problem(_ problem: Problem, under head: ProblemHead, to request: ReceivedRequest) -> Response {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        if let seconds = problem.retry?.seconds { fields[.retryAfter] = String(seconds) }
        if head.status == 401 { fields[.wwwAuthenticate] = "Bearer realm=\"fieldmerge\"" }
        return json(
            ProblemEncoder.encode(problem, under: head, request: request.id), to: request.headers,
            status: HTTPResponse.Status(code: head.status), type: "application/problem+json", with: fields)
    }

    /// Returns true if `Accept-Encoding` allows gzip (RFC 9110 section 12.5.3).
    static func acceptsGzip(_ headers: RequestHeaders) -> Bool {
        guard let accepted = headers["accept-encoding"] else { return false }
        for entry in accepted.split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.trimmingSpaces.lowercased() }
            guard parts.first == "gzip" || parts.first == "*" else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return quality > 0
        }
        return false
    }
}
