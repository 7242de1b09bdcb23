import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An address of key sets on loopback, with answers set by the test, that counts its requests.
package final class KeyServer: Sendable {
    /// The way in which it answers.
    package enum Answer: Sendable {
        case body(String)
        case status(Int)
        /// It accepts the request and does not answer.
        case silence
        /// A body without end.
        case flood
    }

    private struct State {
        var answer: Answer
        var count = 0
    }

    private let state: Mutex<State>
    private let port = Mutex(0)

    private init(_ answer: Answer) {
        state = Mutex(State(answer: answer))
    }

    /// The address.
    package var url: String { "http://127.0.0.1:\(port.withLock { $0 })/keys" }

    /// The requests so far.
    package var count: Int { state.withLock { $0.count } }

    /// Answers otherwise from now on.
    package func answer(_ answer: Answer) { state.withLock { $0.answer = answer } }

    /// Runs a server for as long as `body` does.
    package static func with<Result: Sendable>(
        _ answer: Answer, _ body: (KeyServer) async throws -> Result
    ) async throws -> Result {
        let server = KeyServer(answer)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(KeyHandler(server))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        server.port.withLock { $0 = channel.localAddress?.port ?? 0 }
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    fileprivate func take() -> Answer {
        state.withLock { state in
            state.count += 1
            return state.answer
        }
    }
}

private final class KeyHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: KeyServer

    init(_ server: KeyServer) {
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        switch server.take() {
        case .body(let text): send(200, text, context)
        case .status(let status): send(status, "", context)
        case .silence: break
        case .flood: send(200, String(repeating: " ", count: 4 << 20), context)
        }
    }

    private func send(_ status: Int, _ text: String, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status),
            headers: ["Content-Length": String(text.utf8.count)])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
