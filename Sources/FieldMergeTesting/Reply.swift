public import FieldMergeClient
public import Foundation

/// A complete answer, an answer that breaks off, or no answer.
public struct Reply: Sendable {
    /// The status; nil without an answer.
    public var status: Int?
    /// The headers by their names.
    public var headers: [String: String]
    /// The body.
    public var body: Data
    /// The number of bytes after which the answer breaks off; nil for a complete answer.
    public var breaksAt: Int?

    /// Creates an answer of bytes.
    public init(status: Int? = 200, headers: [String: String] = [:], body: Data = Data(), breaksAt: Int? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.breaksAt = breaksAt
    }

    /// Creates an answer in JSON.
    public init(_ value: JSONValue, status: Int = 200, headers: [String: String] = [:]) {
        let kind = status >= 400 ? "application/problem+json" : "application/json"
        self.init(
            status: status, headers: ["content-type": kind].merging(headers) { _, own in own },
            body: Data(value.description.utf8))
    }

    /// Returns a problem document in the gateway's format.
    public static func problem(
        _ status: Int, _ code: String, headers: [String: String] = [:], more: [String: JSONValue] = [:]
    ) -> Reply {
        let isRetried = [429, 503, 504].contains(status) || code == "in-progress"
        let told: [String: JSONValue] = [
            "type": .string("urn:fieldmerge:problem:\(code)"), "title": .string(code),
            "status": .integer(Int128(status)), "detail": .string(code), "code": .string(code),
            "retry": .bool(isRetried),
        ]
        return Reply(.object(told.merging(more) { _, own in own }), status: status, headers: headers)
    }

    /// A request without a network, or an answer that gets lost.
    public static let none = Reply(status: nil)

    func response() throws -> TransportResponse {
        guard let status else { throw NoNetwork() }
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        let whole = breaksAt.map { body.prefix($0) } ?? body
        var rest = whole[...]
        while !rest.isEmpty {
            continuation.yield(Data(rest.prefix(4_096)))
            rest = rest.dropFirst(4_096)
        }
        continuation.finish(throwing: breaksAt == nil ? nil : NoNetwork())
        let told = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { _, last in last }
        return TransportResponse(status: status, headers: told, body: stream)
    }
}

/// The error of a connection that broke.
public struct NoNetwork: Error, Sendable {}
