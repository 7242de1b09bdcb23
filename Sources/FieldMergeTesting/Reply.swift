public import FieldMergeClient
public import Foundation

/// An answer, perhaps one that breaks off after so many bytes, or none.
public struct Reply: Sendable {
    /// The status; nil where no answer comes.
    public var status: Int?
    /// The headers by their names.
    public var headers: [String: String]
    /// The body.
    public var body: Data
    /// The number of bytes after which it breaks off; nil where it does not.
    public var breaksAt: Int?

    /// Makes an answer of bytes.
    public init(status: Int? = 200, headers: [String: String] = [:], body: Data = Data(), breaksAt: Int? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.breaksAt = breaksAt
    }

    /// Makes an answer that is JSON.
    public init(_ value: JSONValue, status: Int = 200, headers: [String: String] = [:]) {
        let kind = status >= 400 ? "application/problem+json" : "application/json"
        self.init(
            status: status, headers: ["content-type": kind].merging(headers) { _, own in own },
            body: Data(value.description.utf8))
    }

    /// Returns a problem document as the gateway answers.
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

    /// The answer of a request that finds no network, or whose answer gets lost.
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
