import NIOCore
import Synchronization

final class ClientDoor: Sendable {
    private let limit: Int
    private let count = Atomic<Int>(0)
    /// The additional connections that may be open while they are refused.
    private static let refused = 8

    init(limit: Int) {
        self.limit = limit
    }

    /// The maximum number of open connections.
    ///
    /// Refused connections count until they are closed.
    var mostAccepted: Int { limit + Self.refused }

    /// Counts a client; returns false at the limit.
    func enter() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}

/// Answers 503 and closes the connection without reading.
final class Refusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let answer =
        "HTTP/1.1 503 Service Unavailable\r\nserver: fieldmerge\r\nretry-after: 5\r\ncontent-length: 0\r\n"
        + "connection: close\r\n\r\n"

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.answer)), promise: nil)
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
