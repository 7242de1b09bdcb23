import Logging
import MergeCore
import NIOCore

/// Reads a header of the PROXY protocol at the start of a connection, before TLS and HTTP.
///
/// Only trusted proxies may send one, and they need not: the same proxy may also forward HTTP or check the health. After
/// the start of the connection, the handler removes itself.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let proxies: TrustedProxies
    private let isEncrypted: Bool
    private let logger: Logger
    private var received = ByteBuffer()
    private var isRefused = false

    init(_ proxies: TrustedProxies, isEncrypted: Bool, logger: Logger) {
        self.proxies = proxies
        self.isEncrypted = isEncrypted
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        received.writeImmutableBuffer(unwrapInboundIn(data))
        let reading = ProxyHeader.read(from: &received)
        if reading == .absent { return pass(context) }
        guard let peer = context.channel.remoteAddress?.ipAddress, proxies.isTrusted(peer) else {
            if reading != .incomplete { refuse(context, because: .untrusted) }
            return
        }
        switch reading {
        case .absent, .incomplete: break
        case .complete(let header):
            context.fireUserInboundEventTriggered(header)
            pass(context)
        case .malformed(let reason): refuse(context, because: .malformed(reason))
        }
    }

    private func pass(_ context: ChannelHandlerContext) {
        if received.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(received))
            received = ByteBuffer()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, because fault: ProxyHeaderFault) {
        isRefused = true
        received = ByteBuffer()
        logger.notice(
            "connection refused",
            metadata: [
                "cause": .string(fault.detail), "from": .string(context.channel.remoteAddress?.ipAddress ?? "unknown"),
            ])
        // A client that begins with TLS cannot read an answer.
        if isEncrypted { context.close(promise: nil) } else { context.fireErrorCaught(fault) }
    }
}

/// The reason for which a header of the PROXY protocol is refused.
enum ProxyHeaderFault: Error {
    case untrusted
    case malformed(String)

    var detail: String {
        switch self {
        case .untrusted:
            "The connection begins with a header of the PROXY protocol, but no --trusted-proxy names its address. Name the "
                + "balancer with --trusted-proxy, or switch the header off."
        case .malformed(let reason): "The header of the PROXY protocol cannot be read: \(reason)."
        }
    }

    var problem: Problem { Problem(.malformedRequest, detail: detail) }
}
