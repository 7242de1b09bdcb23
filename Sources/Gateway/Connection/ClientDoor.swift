import NIOCore
import Synchronization

/// Counts the clients that are connected, and lets no more in than there is room for.
final class ClientDoor: Sendable {
    private let limit: Int
    private let count = Atomic<Int>(0)
    /// Connections that may be open beyond the limit, for as long as it takes to refuse them.
    private static let refused = 8

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of connections from which on no other is accepted, because many are being refused already.
    var mostAccepted: Int { limit + Self.refused }

    /// Lets a client in; returns false where there is no room for it.
    func enter() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    /// Makes room where a client was let in.
    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}

/// Tells a client that there is no room for it, and closes its connection, whatever it has to say.
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
