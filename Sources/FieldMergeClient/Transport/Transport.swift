public import Foundation

/// A carrier of requests to the gateway.
public protocol Transport: Sendable {
    /// Sends a request; returns its answer when the status has arrived.
    ///
    /// - Throws: any error without an answer. Cancelling the task aborts the request.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request to the gateway.
public struct TransportRequest: Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// The path with the query, from the slash on.
    public let path: String
    /// The headers by their names.
    public let headers: [String: String]
    /// The body, not packed; nil if there is none.
    public let body: Data?
    /// The seconds without a byte in either direction after which an answer counts as lost.
    public let timeout: Double

    /// Makes a request.
    public init(method: String, path: String, headers: [String: String] = [:], body: Data? = nil, timeout: Double = 30)
    {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// An answer with status and headers; its body arrives in parts.
public struct TransportResponse: Sendable {
    /// The status, such as 200.
    public let status: Int
    /// The headers, by their names in small letters.
    public let headers: [String: String]
    /// The uncompressed body; throws if it is incomplete.
    public let body: AsyncThrowingStream<Data, any Error>

    /// Makes an answer.
    public init(status: Int, headers: [String: String], body: AsyncThrowingStream<Data, any Error>) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The error of a missing or incomplete answer.
struct ConnectionLost: Error {
    let reason: String
}

/// An answer that was read whole.
struct WholeAnswer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: Data

    /// The body as JSON; null if it is not JSON.
    var json: JSONValue { JSONValue(bytes: body) ?? .null }

    /// The problem document of the gateway's answer; nil if the answer is not the gateway's.
    var problem: JSONValue? {
        let told = json
        return told["code"].stringValue != nil && !told["title"].isNull ? told : nil
    }

    /// The gateway has run none of the pushes of the request.
    var saysNothingWritten: Bool {
        [401, 426, 429, 503].contains(status) || ([400, 403, 413, 422].contains(status) && problem != nil)
    }

    /// The seconds of `Retry-After`; nil if there is none.
    func retryAfter(now: Double) -> Double? {
        guard let text = headers["retry-after"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Double(text) { return max(0, seconds) }
        return ServerDate.seconds(text).map { max(0, $0 - now) }
    }
}
