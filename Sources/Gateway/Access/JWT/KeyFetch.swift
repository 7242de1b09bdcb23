import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Fetches a key set: one request without redirects, limited in time and bytes.
///
/// It uses NIO, which the gateway already contains. AsyncHTTPClient adds over a minute to a build. URLSession needs
/// libcurl and Foundation, and limits a body only after it has arrived.
enum KeyFetch {
    /// The maximum bytes of a key set.
    static let mostBytes = 512 * 1_024
    /// The timeout of the whole fetch.
    static let patience = TimeAmount.seconds(3)

    /// Returns the body of the answer.
    ///
    /// - Parameter authorityFile: a file of trusted certificate authorities; nil for those of the system.
    /// - Throws: `KeySetError` without an answer with status 200 in time.
    static func body(
        at address: KeyAddress, within patience: TimeAmount = patience, authorityFile: String? = nil
    ) async throws(KeySetError) -> [UInt8] {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            if let authorityFile { configuration.trustRoots = .file(authorityFile) }
            return try await ask(
                address, within: patience,
                tls: address.isEncrypted ? try NIOSSLContext(configuration: configuration) : nil)
        } catch let error as KeySetError {
            throw error
        } catch {
            throw KeySetError("it cannot be reached (\(error))")
        }
    }

    /// - Parameter tls: nil for plain HTTP.
    private static func ask(
        _ address: KeyAddress, within patience: TimeAmount, tls: NIOSSLContext?
    ) async throws -> [UInt8] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [UInt8].self)
        // Starts here, because the lookup of a name has no timeout.
        let alarm = loop.scheduleTask(in: patience) { promise.fail(KeySetError("it took too long to answer")) }
        ClientBootstrap(group: loop).connectTimeout(patience).connect(host: address.host, port: address.port)
            .flatMap { channel in
                promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        let name = address.isNumeric ? nil : address.host
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(KeyAnswer(promise))
                    channel.write(HTTPClientRequestPart.head(head(address)), promise: nil)
                    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
                }
            }.whenFailure { promise.fail($0) }
        defer { alarm.cancel() }
        return try await promise.futureResult.get()
    }

    private static func head(_ address: KeyAddress) -> HTTPRequestHead {
        HTTPRequestHead(
            version: .http1_1, method: .GET, uri: address.target,
            headers: [
                "Host": address.authority, "Accept": "application/json", "User-Agent": "fieldmerge",
                "Connection": "close",
            ])
    }
}

private final class KeyAnswer: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<[UInt8]>
    private var body: [UInt8] = []

    init(_ promise: EventLoopPromise<[UInt8]>) {
        self.promise = promise
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if head.status != .ok { promise.fail(KeySetError("it answered with status \(head.status.code)")) }
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= KeyFetch.mostBytes else {
                return promise.fail(KeySetError("it sent more than \(KeyFetch.mostBytes) bytes"))
            }
            body += bytes.readableBytesView
        case .end: promise.succeed(body)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(KeySetError("it closed the connection before its answer was whole"))
        context.fireChannelInactive()
    }
}
