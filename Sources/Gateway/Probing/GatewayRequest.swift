import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One `GET` of a gateway, limited in time and bytes.
package struct GatewayRequest: Sendable {
    /// The encryption of the connection.
    package enum Encryption: Sendable {
        case none
        /// Encrypted, with any certificate.
        case unverified
        /// Encrypted, with a certificate for this host that the system trusts.
        case verified(host: String)
    }

    /// The reason for which no answer came.
    package struct Silence: Error, CustomStringConvertible {
        package let description: String
    }

    /// The answer of the gateway.
    package struct Answer: Sendable {
        package let status: Int
        package let body: [UInt8]
    }

    private let host: String
    private let port: Int
    private let encryption: Encryption
    private let head: HTTPRequestHead
    private let mostBytes: Int

    /// - Parameters:
    ///   - authority: the `Host` of the request.
    ///   - token: the bearer token, if any.
    ///   - mostBytes: the maximum bytes of an answer.
    package init(
        _ path: String, host: String, port: Int, encryption: Encryption, authority: String, token: String? = nil,
        mostBytes: Int
    ) {
        self.host = host
        self.port = port
        self.encryption = encryption
        self.mostBytes = mostBytes
        var headers: HTTPHeaders = ["Host": authority, "Connection": "close"]
        if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
        head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
    }

    /// Returns the answer.
    ///
    /// - Throws: `Silence` if no answer comes in time.
    package func answer(within seconds: Int64) async throws(Silence) -> Answer {
        do {
            return try await answer(within: .seconds(seconds))
        } catch let silence as Silence {
            throw silence
        } catch let error as NIOSSLError {
            throw Silence(description: "the connection to \(host):\(port) cannot be encrypted: \(error)")
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
        let tls: NIOSSLContext?
        do {
            tls = try context()
        } catch {
            promise.fail(error)
            throw error
        }
        ClientBootstrap(group: loop).connectTimeout(patience).connect(host: host, port: port)
            .flatMap { channel in
                promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(AnswerReader(promise, mostBytes: mostBytes))
                    channel.write(HTTPClientRequestPart.head(head), promise: nil)
                    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
                }
            }.whenFailure { promise.fail($0) }
        return try await promise.futureResult.get()
    }

    private func context() throws -> NIOSSLContext? {
        var configuration = TLSConfiguration.makeClientConfiguration()
        switch encryption {
        case .none: return nil
        case .unverified: configuration.certificateVerification = .none
        case .verified: break
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// The name in the certificate; nil for an address, which a TLS handshake does not name.
    private var serverName: String? {
        guard case .verified(let host) = encryption, (try? SocketAddress(ipAddress: host, port: 0)) == nil else {
            return nil
        }
        return host
    }
}

private final class AnswerReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<GatewayRequest.Answer>
    private let mostBytes: Int
    private var status = 0
    private var body: [UInt8] = []

    init(_ promise: EventLoopPromise<GatewayRequest.Answer>, mostBytes: Int) {
        self.promise = promise
        self.mostBytes = mostBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= mostBytes else {
                return promise.fail(GatewayRequest.Silence(description: "the answer has more than \(mostBytes) bytes"))
            }
            body += bytes.readableBytesView
        case .end: promise.succeed(GatewayRequest.Answer(status: status, body: body))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(GatewayRequest.Silence(description: "the gateway closed the connection without an answer"))
        context.fireChannelInactive()
    }
}
