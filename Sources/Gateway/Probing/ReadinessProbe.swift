import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Sends one `GET /readyz` to a gateway on this machine, limited in time and bytes.
///
/// It does not verify the certificate, which contains the public host instead of the loopback address. The request
/// contains no secret.
package struct ReadinessProbe: Sendable {
    private let host: String
    private let port: Int
    private let isEncrypted: Bool

    /// The maximum bytes of an answer.
    private static let mostBytes = 64 * 1_024

    /// The reason for which no answer came.
    package struct Silence: Error, CustomStringConvertible {
        package let description: String
    }

    /// The answer of the gateway.
    package struct Answer: Sendable {
        /// True if the gateway serves requests.
        package let isReady: Bool
        /// The body of the answer.
        package let body: [UInt8]
    }

    /// - Parameter host: the configured address. A wildcard address is replaced by loopback.
    package init(host: String, port: Int, isEncrypted: Bool) {
        switch host {
        case "0.0.0.0", "": self.host = "127.0.0.1"
        case "::": self.host = "::1"
        default: self.host = host
        }
        self.port = port
        self.isEncrypted = isEncrypted
    }

    /// Returns the answer.
    ///
    /// - Throws: `Silence` if no answer comes in time.
    package func ask(within seconds: Int64) async throws(Silence) -> Answer {
        do {
            return try await answer(within: .seconds(seconds))
        } catch let silence as Silence {
            throw silence
        } catch {
            throw Silence(description: "nothing answers at \(host):\(port)")
        }
    }

    private func answer(within patience: TimeAmount) async throws -> Answer {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Answer.self)
        let alarm = loop.scheduleTask(in: patience) {
            promise.fail(Silence(description: "the gateway does not answer in time"))
        }
        defer { alarm.cancel() }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        let tls = isEncrypted ? try NIOSSLContext(configuration: configuration) : nil
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/readyz", headers: ["Host": "localhost", "Connection": "close"])
        ClientBootstrap(group: loop).connectTimeout(patience).connect(host: host, port: port)
            .flatMap { channel in
                promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil)) }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(ProbeAnswer(promise, mostBytes: Self.mostBytes))
                    channel.write(HTTPClientRequestPart.head(head), promise: nil)
                    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
                }
            }.whenFailure { promise.fail($0) }
        return try await promise.futureResult.get()
    }
}

private final class ProbeAnswer: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<ReadinessProbe.Answer>
    private let mostBytes: Int
    private var isReady = false
    private var body: [UInt8] = []

    init(_ promise: EventLoopPromise<ReadinessProbe.Answer>, mostBytes: Int) {
        self.promise = promise
        self.mostBytes = mostBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): isReady = head.status == .ok
        case .body(let bytes): if body.count + bytes.readableBytes <= mostBytes { body += bytes.readableBytesView }
        case .end: promise.succeed(ReadinessProbe.Answer(isReady: isReady, body: body))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ReadinessProbe.Silence(description: "the gateway closed the connection without an answer"))
        context.fireChannelInactive()
    }
}
