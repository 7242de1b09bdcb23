import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Collects each request of one connection and has it answered.
///
/// One request is answered at a time: the pipeline keeps back what a client sends ahead until the end of an answer has
/// been written, and that is held back until the client has taken most of it.
final class RequestHandler<Responder: HTTPResponder>: ChannelDuplexHandler where Responder.Context == GatewayContext {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        case waiting
        case receiving(HTTPRequestHead, ContinuousClock.Instant)
        /// What still comes of the body is of no use.
        case answering
    }

    private let responder: Responder
    private let limits: ConnectionLimits
    private let logger: Logger
    private var phase = Phase.waiting
    /// What has come of the body.
    private var body: ByteBuffer?
    private var bodyAlarm: Scheduled<Void>?
    private var idleAlarm: Scheduled<Void>?
    /// When the last answer had left.
    private var waitingSince = NIODeadline.now()
    /// The end of an answer of which the client has much to take still.
    private var heldEnd: (data: NIOAny, promise: EventLoopPromise<Void>?)?
    /// Ends of answers that are on their way, and how many have left.
    private var unsentEnds = 0
    private var sentEnds = 0
    /// What was still to be sent when it was looked at last, and how many answers had left by then.
    private var lastLook = (bytes: 0, ends: 0)
    /// Nothing follows the answer that is being given.
    private var closesAfterAnswer = false
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
        heldEnd?.promise?.fail(ChannelError.ioOnClosedChannel)
        heldEnd = nil
    }

    // MARK: What comes in

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(var piece):
            guard case .receiving(let head, let arrival) = phase else { return }
            if body == nil { body = piece } else { body?.writeBuffer(&piece) }
            let count = body?.readableBytes ?? 0
            if count > limits.unquestionedBytes, count > limits.bodyBytes(of: head) {
                answer(head, arrival, Self.failing(tooLarge), context)
            }
        case .end:
            guard case .receiving(let head, let arrival) = phase else { return }
            answer(head, arrival, RequestBody(buffer: body ?? ByteBuffer()), context)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let arrival = ContinuousClock.now
        // A body that says that it is too large is not waited for.
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        if length > limits.unquestionedBytes, length > limits.bodyBytes(of: head) {
            return answer(head, arrival, Self.failing(tooLarge), context)
        }
        phase = .receiving(head, arrival)
        if head.version == .http1_1, head.headers.first(name: "expect")?.lowercased() == "100-continue" {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .receiving = phase, bodyAlarm == nil {
            bodyAlarm = context.eventLoop.assumeIsolated().scheduleTask(in: limits.bodyTime) {
                guard case .receiving(let head, let arrival) = self.phase else { return }
                self.answer(head, arrival, Self.failing(BodyTimeout()), context)
            }
        }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            // Whoever sent a whole request may still read its answer.
            closesAfterAnswer = true
            if case .answering = phase {} else if unsentEnds == 0 { context.close(promise: nil) }
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
        if context.channel.isWritable {
            writeEnd(data, promise, context)
        } else {
            heldEnd = (data, promise)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if let end = heldEnd, context.channel.isWritable, !isClosing {
            heldEnd = nil
            writeEnd(end.data, end.promise, context)
            context.flush()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Writes the end of an answer, upon which the pipeline hands over the next request, if there is one already.
    private func writeEnd(_ data: NIOAny, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        phase = .waiting
        unsentEnds += 1
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unsentEnds -= 1
            self.sentEnds += 1
            self.waitingSince = .now()
            guard self.closesAfterAnswer, self.unsentEnds == 0, case .waiting = self.phase else { return }
            context.close(promise: nil)
        }
        context.write(data, promise: promise)
    }

    private func answer(
        _ head: HTTPRequestHead, _ arrival: ContinuousClock.Instant, _ body: RequestBody,
        _ context: ChannelHandlerContext
    ) {
        phase = .answering
        self.body = nil
        bodyAlarm?.cancel()
        bodyAlarm = nil
        if !head.isKeepAlive { closesAfterAnswer = true }
        let channel = context.channel
        let request = Request(head: HTTPRequest(head), body: body)
        let writer = AnswerWriter(
            channel: channel, requestID: RequestID.next(), version: head.version, isKeptAlive: head.isKeepAlive,
            isHead: head.method == .HEAD)
        let (responder, logger) = (responder, logger)
        Task {
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            var context = GatewayContext(source: source)
            context.arrival = arrival
            context.requestID = writer.requestID
            context.headers = RequestHeaders(head.headers)
            await writer.write { [context] in try await responder.respond(to: request, context: context) }
        }
    }

    private var tooLarge: NIOTooManyBytesError { NIOTooManyBytesError(maxBytes: limits.bodyBytes) }

    private static func failing(_ error: any Error & Sendable) -> RequestBody {
        RequestBody(asyncSequence: AsyncThrowingStream<ByteBuffer, any Error> { $0.finish(throwing: error) })
    }

    // MARK: Time

    /// One alarm a connection, which looks again later where something happened meanwhile.
    private func watch(_ context: ChannelHandlerContext, after time: TimeAmount) {
        idleAlarm = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            let unsent = Self.unsentBytes(context)
            let look = (bytes: unsent, ends: self.sentEnds)
            defer { self.lastLook = look }
            if unsent > 0 {
                // A slow client takes something; one that takes nothing at all is gone.
                let isStalled =
                    unsent >= self.lastLook.bytes && self.lastLook.bytes > 0 && look.ends == self.lastLook.ends
                if isStalled { return context.close(promise: nil) }
            } else if case .waiting = self.phase {
                let now = NIODeadline.now()
                let end = self.waitingSince + self.limits.idleTime
                if end <= now { return context.close(promise: nil) }
                return self.watch(context, after: end - now)
            }
            self.watch(context, after: self.limits.idleTime)
        }
    }

    private static func unsentBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}

/// A body that did not arrive in time.
struct BodyTimeout: Error {}
