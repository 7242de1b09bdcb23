import Hummingbird
import HummingbirdCore
import Logging
import MergeCore
import MergeService
import MergeWire
import NIOCore
import NIOHTTP1

/// Collects the requests of a connection and answers them in order.
///
/// A pipelined request waits until the previous answer is written and the client has read most of it. The handler reads
/// nothing more while requests wait.
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case waiting
        case receiving(ReceivedHead)
        /// The rest of the body is ignored.
        case answering
    }

    private enum Inbound {
        case part(HTTPServerRequestPart)
        /// Bytes that are not HTTP.
        case fault
    }

    private enum State {
        case open
        /// No further request is accepted.
        case over
        /// Everything is written but not yet sent.
        case draining
        case closing
    }

    private let responder: GatewayResponder
    private let limits: ConnectionLimits
    private let logger: Logger
    private var context: ChannelHandlerContext?
    private var phase = Phase.waiting
    private var body: ByteBuffer?
    /// The memory of the request and its answer.
    private var lease: ByteLease?
    /// The parts of pipelined requests.
    private var ahead = CircularBuffer<Inbound>()
    private var readIsHeld = false
    /// The end of the current request has not arrived.
    private var isAmidRequest = false
    /// The current read contained a part of a request.
    private var sawPart = false
    private var headAlarm: Scheduled<Void>?
    private var bodyAlarm: Scheduled<Void>?
    private let idleness: IdleTimeout
    private let unread: UnreadTimeout
    /// The answer is written, but the client has not read most of it.
    private var endIsHeld = false
    /// The connection closes after the current answer.
    private var isLast = false
    private var state = State.open
    private var caller: Caller?
    /// The header of the PROXY protocol at the start of the connection; nil without one.
    private var proxyHeader: ProxyHeader?

    init(responder: GatewayResponder, limits: ConnectionLimits, logger: Logger) {
        self.responder = responder
        self.limits = limits
        self.logger = logger
        idleness = IdleTimeout(limits.idleTime)
        unread = UnreadTimeout(limits.answerTime)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        idleness.start(context) { self.isWaiting }
    }

    private var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    func handlerRemoved(context: ChannelHandlerContext) {
        for alarm in [headAlarm, bodyAlarm] { alarm?.cancel() }
        idleness.stop()
        unread.stop()
        caller?.leave()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        caller?.leave()
        context.fireChannelInactive()
    }

    // MARK: Receiving

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        note(part)
        if waits(part) { ahead.append(.part(part)) } else { take(part, context) }
    }

    /// Tracks the position in a request.
    private func note(_ part: HTTPServerRequestPart) {
        sawPart = true
        switch part {
        case .head: isAmidRequest = true
        case .end: isAmidRequest = false
        case .body: return
        }
        headAlarm?.cancel()
        headAlarm = nil
    }

    /// Returns true if a part belongs to a pipelined request.
    private func waits(_ part: HTTPServerRequestPart) -> Bool {
        if !ahead.isEmpty { return true }
        if case .answering = phase, case .head = part { return true }
        return false
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head): begin(head, context: context)
        case .body(var piece):
            guard case .receiving(let received) = phase else { return }
            guard hold(piece.readableBytes) else {
                return answer(received, with: .failure(.unwanted(ByteBudget.overloaded)), in: context)
            }
            if body == nil { body = piece } else { body?.writeBuffer(&piece) }
            let count = body?.readableBytes ?? 0
            if count > limits.unquestionedBytes, count > limits.bodyBytes(of: received.head) {
                answer(received, with: .failure(.tooLarge), in: context)
            }
        case .end:
            guard case .receiving(let received) = phase else { return }
            answer(received, with: .success(body ?? ByteBuffer()), in: context)
        }
    }

    private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        let client = client(of: context, forwarded: head.headers["x-forwarded-for"])
        let received = ReceivedHead(head, at: .now, from: client)
        if let problem = HeadFault.problem(received) {
            // The start of the next request is uncertain.
            isLast = true
            return answer(received, with: .failure(.unwanted(problem)), in: context)
        }
        // An announced length that is too large is refused before the body arrives.
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        if length > limits.unquestionedBytes, length > limits.bodyBytes(of: head) {
            return answer(received, with: .failure(.tooLarge), in: context)
        }
        phase = .receiving(received)
        if head.version == .http1_1,
            head.headers.first(name: "expect").map(RequestHeaders.ascii)?.lowercased() == "100-continue"
        {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        }
    }

    private func client(of context: ChannelHandlerContext, forwarded: [String]) -> String? {
        limits.proxies.client(
            of: context.channel.remoteAddress?.ipAddress, header: proxyHeader, forwarded: forwarded)
    }

    /// Acquires bytes of the shared budget, or returns false.
    private func hold(_ count: Int) -> Bool {
        let lease = lease ?? ByteLease(limits.budget)
        self.lease = lease
        return lease.take(count)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        watchHead(context)
        watchBody(context)
        context.fireChannelReadComplete()
    }

    /// Starts the timeout of an incomplete head or an ignored body.
    private func watchHead(_ context: ChannelHandlerContext) {
        // Bytes without a part are the start of a head.
        if isAmidRequest || !sawPart { waitForRest(context) }
        sawPart = false
    }

    /// Starts the timeout for the rest of a head or an ignored body.
    private func waitForRest(_ context: ChannelHandlerContext) {
        guard case .waiting = phase, ahead.isEmpty, headAlarm == nil else { return }
        headAlarm = context.eventLoop.assumeIsolated().scheduleTask(in: limits.headTime) {
            guard case .waiting = self.phase else { return }
            if self.isAmidRequest { self.close(context) } else { self.refuse(context, with: HeadFault.slow) }
        }
    }

    /// Starts the timeout of a body, and repeats it while the body grows by 1 kB a second.
    private func watchBody(_ context: ChannelHandlerContext) {
        guard case .receiving = phase, bodyAlarm == nil else { return }
        let before = body?.readableBytes ?? 0
        bodyAlarm = context.eventLoop.assumeIsolated().scheduleTask(in: limits.bodyTime) {
            guard case .receiving(let received) = self.phase else { return }
            self.bodyAlarm = nil
            let growth = (self.body?.readableBytes ?? 0) - before
            if growth >= self.limits.leastGrowth { return self.watchBody(context) }
            self.answer(received, with: .failure(.tooSlow), in: context)
        }
    }

    func read(context: ChannelHandlerContext) {
        // Reading continues during an answer, to save system calls.
        if ahead.isEmpty { context.read() } else { readIsHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed, is ChannelShouldQuiesceEvent:
            // The client may still read its answers.
            endRequests()
            closeIfDone(context)
        case let header as ProxyHeader: proxyHeader = header
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let fault = error as? ProxyHeaderFault { return refuse(context, with: fault.problem) }
        guard error is HTTPParserError else { return close(context) }
        switch phase {
        case .answering: ahead.append(.fault)
        case .waiting, .receiving: if ahead.isEmpty { refuse(context) } else { ahead.append(.fault) }
        }
    }

    /// Answers bytes that are not HTTP or a slow head, and closes the connection.
    private func refuse(_ context: ChannelHandlerContext, with problem: Problem = HeadFault.unreadable) {
        guard state != .closing else { return }
        state = .closing
        var bytes = ByteBuffer()
        let head = ProblemHead(problem)
        let id = RequestID.next()
        let body = ProblemEncoder.encode(problem, under: head, request: id)
        AnswerHead(
            version: .http1_1, status: head.status,
            fields: [.contentType: "application/problem+json", .cacheControl: "no-store"], requestID: id,
            connection: "close"
        ).write(.length(body.count), to: &bytes)
        bytes.writeBytes(body)
        responder.log(
            RequestLine(
                id: id, method: "-", path: "-", status: head.status, milliseconds: 0,
                client: client(of: context, forwarded: []),
                facts: FailureNote.Facts(code: problem.code.rawValue)))
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(bytes)).whenComplete { _ in channel.close(promise: nil) }
    }

    private func endRequests() {
        if state == .open { state = .over }
    }

    private func close(_ context: ChannelHandlerContext) {
        state = .closing
        context.close(promise: nil)
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard state == .over, !endIsHeld, ahead.isEmpty, isWaiting else { return }
        state = .draining
        // An empty write completes after all earlier writes.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in self.close(context) }
    }

    // MARK: Answering

    private func answered(_ context: ChannelHandlerContext) {
        phase = .waiting
        caller = nil
        lease = nil
        idleness.restart()
        if isLast {
            ahead.removeAll()
            endRequests()
        }
        while let next = ahead.first, isItsTurn(next) {
            ahead.removeFirst()
            switch next {
            case .part(let part): take(part, context)
            case .fault: return refuse(context)
            }
        }
        watchBody(context)
        // The ignored rest of a body may never arrive.
        if isAmidRequest { waitForRest(context) }
        if ahead.isEmpty, readIsHeld {
            readIsHeld = false
            context.read()
        }
        closeIfDone(context)
    }

    private func isItsTurn(_ next: Inbound) -> Bool {
        guard case .answering = phase else { return true }
        switch next {
        case .part(.head), .fault: return false
        // The ignored rest of a request.
        case .part(.body), .part(.end): return true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if endIsHeld, context.channel.isWritable, state != .closing {
            endIsHeld = false
            answered(context)
        }
        context.fireChannelWritabilityChanged()
    }

    private func answer(
        _ received: ReceivedHead, with body: Result<ByteBuffer, BodyFault>, in context: ChannelHandlerContext
    ) {
        let head = received.head
        phase = .answering
        self.body = nil
        bodyAlarm?.cancel()
        bodyAlarm = nil
        if !head.isKeepAlive { isLast = true }
        // The rest of a slow body may never arrive, and it precedes the next request.
        if case .failure(.tooSlow) = body { isLast = true }
        let isKeptAlive = !isLast
        let channel = context.channel
        let request = Request(head: HTTPRequest(head), body: RequestBody(buffer: ByteBuffer()))
        let writer = AnswerWriter(
            channel: channel, sink: NIOLoopBound(self, eventLoop: context.eventLoop),
            requestID: RequestID.of(received.headers), version: head.version, isKeptAlive: isKeptAlive,
            isHead: head.method == .HEAD)
        let lease = lease ?? ByteLease(limits.budget)
        self.lease = lease
        let caller = Caller()
        self.caller = caller
        let bytes = (try? body.get().readableBytes) ?? 0
        let isLarge = LargeWork.takes(bytes, isPacked: head.headers.contains(name: "content-encoding"))
        let whole = ReceivedRequest(
            received, id: writer.requestID, path: request.uri.path, body: body, lease: lease,
            deadline: .now.advanced(by: .seconds(responder.seconds)), caller: caller,
            largeWork: limits.largeWork)
        let (responder, logger) = (responder, logger)
        let work = { @Sendable () async in
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            let response = await responder.respond(to: request, context: GatewayContext(whole, source: source))
            guard response.body.contentLength == nil, !isLarge else { return await writer.write(response) }
            // A new task sends a long answer, which frees the memory of this task.
            Task { await writer.write(response) }
        }
        // A task checks its executor preference at every step, even a default preference.
        if isLarge { Task(executorPreference: limits.largeWork, operation: work) } else { Task(operation: work) }
    }
}

extension RequestHandler: AnswerSink {
    func send(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>) {
        guard let context = open(promise) else { return }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: promise)
        unread.note(bytes.readableBytes, writtenTo: context)
    }

    func end(_ bytes: ByteBuffer, _ rest: ByteBuffer?) {
        guard let context = open(nil) else { return }
        let count = bytes.readableBytes + (rest?.readableBytes ?? 0)
        // Unread bytes of the answer remain in the budget; most answers leave at once.
        if count > ByteBudget.small { lease?.settle(at: count) }
        if let rest {
            context.write(wrapOutboundOut(bytes), promise: nil)
            context.writeAndFlush(wrapOutboundOut(rest), promise: nil)
        } else {
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        }
        unread.note(count, writtenTo: context)
        if context.channel.isWritable { answered(context) } else { endIsHeld = true }
    }

    /// Returns the context of an open connection.
    ///
    /// Otherwise the promise fails.
    private func open(_ promise: EventLoopPromise<Void>?) -> ChannelHandlerContext? {
        guard state != .closing, let context, context.channel.isActive else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return nil
        }
        return context
    }
}
