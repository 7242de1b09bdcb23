import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Collects each request of one connection and has it answered.
///
/// One request is answered at a time: the pipeline keeps back what a client sends ahead.
final class RequestHandler<Responder: HTTPResponder>: ChannelDuplexHandler where Responder.Context == GatewayContext {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        case waiting
        case receiving(HTTPRequestHead, ByteBuffer?)
        /// What still comes of the body is of no use.
        case answering
    }

    private let responder: Responder
    private let limits: ConnectionLimits
    private let logger: Logger
    private var phase = Phase.waiting
    /// When the last answer ended.
    private var waitingSince = NIODeadline.now()
    private var bodyAlarm: Scheduled<Void>?
    private var idleAlarm: Scheduled<Void>?
    /// The client sends nothing more.
    private var isHalfClosed = false
    private var isClosing = false

    init(responder: Responder, limits: ConnectionLimits, logger: Logger) {
        self.responder = responder
        self.limits = limits
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        watch(context, after: limits.idleTime)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        idleAlarm?.cancel()
        bodyAlarm?.cancel()
    }

    // MARK: What comes in

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), phase) {
        case (.head(let head), _):
            // A body that says that it is too large is not waited for.
            let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
            if length > limits.bodyBytes {
                answer(head, Self.failing(NIOTooManyBytesError(maxBytes: limits.bodyBytes)), context)
            } else {
                phase = .receiving(head, nil)
            }
        case (.body(var piece), .receiving(let head, let held)):
            var whole: ByteBuffer
            if let held {
                // The buffer has to have one owner, or it would be copied for each piece.
                phase = .waiting
                whole = held
                whole.writeBuffer(&piece)
            } else {
                whole = piece
            }
            if whole.readableBytes > limits.bodyBytes {
                answer(head, Self.failing(NIOTooManyBytesError(maxBytes: limits.bodyBytes)), context)
            } else {
                phase = .receiving(head, whole)
            }
        case (.end, .receiving(let head, let body)):
            answer(head, RequestBody(buffer: body ?? ByteBuffer()), context)
        case (.body, _), (.end, _): break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .receiving = phase, bodyAlarm == nil {
            bodyAlarm = context.eventLoop.assumeIsolated().scheduleTask(in: limits.bodyTime) {
                guard case .receiving(let head, _) = self.phase else { return }
                self.answer(head, Self.failing(BodyTimeout()), context)
            }
        }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isHalfClosed = true
            // Whoever sent a whole request may still read its answer.
            if case .answering = phase {} else { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        isClosing = true
        context.close(promise: nil)
    }

    // MARK: What goes out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // After a fault of the connection its other handlers expect no answer any more.
        guard !isClosing, context.channel.isActive else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .end = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        waitingSince = .now()
        phase = .waiting
        guard isHalfClosed else {
            context.write(data, promise: promise)
            return
        }
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.write(data, promise: promise)
    }

    private func answer(_ head: HTTPRequestHead, _ body: RequestBody, _ context: ChannelHandlerContext) {
        phase = .answering
        bodyAlarm?.cancel()
        bodyAlarm = nil
        let channel = context.channel
        let request = Request(head: HTTPRequest(head), body: body)
        let writer = AnswerWriter(channel: channel, version: head.version, isLast: !head.isKeepAlive)
        let (responder, logger) = (responder, logger)
        Task {
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            await writer.write {
                try await responder.respond(to: request, context: GatewayContext(source: source))
            }
        }
    }

    private static func failing(_ error: any Error & Sendable) -> RequestBody {
        RequestBody(asyncSequence: AsyncThrowingStream<ByteBuffer, any Error> { $0.finish(throwing: error) })
    }

    // MARK: Time

    /// One alarm a connection, which looks again later where something happened meanwhile.
    private func watch(_ context: ChannelHandlerContext, after time: TimeAmount) {
        idleAlarm = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            guard case .waiting = self.phase else { return self.watch(context, after: self.limits.idleTime) }
            let end = self.waitingSince + self.limits.idleTime
            let now = NIODeadline.now()
            if end <= now {
                context.close(promise: nil)
            } else {
                self.watch(context, after: end - now)
            }
        }
    }
}

/// A body that did not arrive in time.
struct BodyTimeout: Error {}
