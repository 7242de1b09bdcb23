import NIOCore
import NIOHTTP1
import NIOPosix

/// A small HTTP/1.1 client for loopback: one connection, kept alive, one request at a time.
package actor HTTPClient {
    package enum Method: String, Sendable, CaseIterable {
        case get, post, head, put, delete, patch, options

        fileprivate var name: HTTPMethod { HTTPMethod(rawValue: rawValue.uppercased()) }
    }

    package struct Answer: Sendable {
        package let status: Int
        package let headers: [String: String]
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let channel: NIOAsyncChannel<HTTPClientResponsePart, HTTPPart<HTTPRequestHead, ByteBuffer>>
    private let token: String?

    package init(port: Int, token: String? = nil) async throws {
        self.token = token
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(OutboundParts())
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Sends requests over one connection for as long as `body` runs.
    package static func with<Result: Sendable>(
        port: Int, token: String? = nil, _ body: @Sendable (Session) async throws -> Result
    ) async throws -> Result {
        let client = try await HTTPClient(port: port, token: token)
        return try await client.channel.executeThenClose { inbound, outbound in
            try await body(Session(inbound: inbound.makeAsyncIterator(), outbound: outbound, token: token))
        }
    }

    /// An open connection.
    package final class Session: @unchecked Sendable {
        // Unchecked: only the task of the closure uses a session.
        private var inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
        private let outbound: NIOAsyncChannelOutboundWriter<HTTPPart<HTTPRequestHead, ByteBuffer>>
        private let token: String?

        init(
            inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator,
            outbound: NIOAsyncChannelOutboundWriter<HTTPPart<HTTPRequestHead, ByteBuffer>>, token: String?
        ) {
            self.inbound = inbound
            self.outbound = outbound
            self.token = token
        }

        package func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
            try await send(.get, path, headers, nil)
        }

        package func post(_ path: String, _ body: String, _ headers: [String: String] = [:]) async throws -> Answer {
            try await send(.post, path, ["Content-Type": "application/json"].merging(headers) { $1 }, Array(body.utf8))
        }

        package func send(
            _ method: Method, _ path: String, _ headers: [String: String], _ body: [UInt8]?
        ) async throws -> Answer {
            var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
            fields.add(name: "Host", value: "localhost")
            if let token { fields.add(name: "Authorization", value: "Bearer " + token) }
            if let body { fields.add(name: "Content-Length", value: String(body.count)) }
            try await outbound.write(
                .head(
                    HTTPRequestHead(
                        version: .http1_1, method: method.name, uri: path, headers: fields)))
            if let body { try await outbound.write(.body(ByteBuffer(bytes: body))) }
            try await outbound.write(.end(nil))
            return try await answer()
        }

        /// Sends all of a request but the last byte of its body, and waits for the answer.
        package func beginPost(_ path: String, _ part: ArraySlice<UInt8>) async throws -> Answer {
            let fields: HTTPHeaders = [
                "Host": "localhost", "Content-Type": "application/json", "Content-Length": String(part.count + 1),
            ]
            try await outbound.write(
                .head(HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: fields)))
            try await outbound.write(.body(ByteBuffer(bytes: part)))
            return try await answer()
        }

        /// Sends a GET and waits for the head of the answer, whose body is read with `nextPiece`.
        package func open(_ path: String, _ headers: [String: String] = [:]) async throws -> Int {
            var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
            fields.add(name: "Host", value: "localhost")
            if let token { fields.add(name: "Authorization", value: "Bearer " + token) }
            try await outbound.write(
                .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: fields)))
            try await outbound.write(.end(nil))
            guard case .head(let head)? = try await inbound.next() else {
                throw Shell.Failure(description: "the gateway closed the connection without an answer")
            }
            return Int(head.status.code)
        }

        /// The next piece of the body of `open`; nil at its end.
        package func nextPiece() async throws -> String? {
            while let part = try await inbound.next() {
                switch part {
                case .head: break
                case .body(let buffer): return String(buffer: buffer)
                case .end: return nil
                }
            }
            return nil
        }

        private func answer() async throws -> Answer {
            var status = 0
            var headers: [String: String] = [:]
            var body: [UInt8] = []
            while let part = try await inbound.next() {
                switch part {
                case .head(let head):
                    status = Int(head.status.code)
                    for field in head.headers { headers[field.name.lowercased()] = field.value }
                case .body(let buffer): body += Array(buffer.readableBytesView)
                case .end: return Answer(status: status, headers: headers, body: body)
                }
            }
            throw Shell.Failure(description: "the gateway closed the connection without an answer")
        }
    }
}

/// Wraps buffers for the channel below.
private final class OutboundParts: ChannelOutboundHandler {
    typealias OutboundIn = HTTPPart<HTTPRequestHead, ByteBuffer>
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let buffer): context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
        case .end(let trailers): context.write(wrapOutboundOut(.end(trailers)), promise: promise)
        }
    }
}
