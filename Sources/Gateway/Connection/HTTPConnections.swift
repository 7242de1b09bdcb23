import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Serves HTTP/1.1 on the connection of each client.
///
/// Hummingbird's own channel runs a task and two asynchronous sequences for each connection, so that bodies may be
/// streamed. Here every body is read whole before it means anything, so a channel handler collects it, and only a
/// request that is complete costs a task; a connection that idles costs its buffers alone. Routes, middleware and the
/// server around it stay Hummingbird's.
struct HTTPConnections: ServerChildChannel {
    let responder: GatewayResponder
    let limits: ConnectionLimits
    let door: ClientDoor
    /// nil for plain HTTP.
    let certificate: ServerCertificate?

    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let certificate { try pipeline.addHandler(certificate.handler()) }
            guard door.enter() else {
                try pipeline.addHandler(Refusal())
                return Value(channel: channel)
            }
            channel.closeFuture.whenComplete { [door] _ in door.leave() }
            UnreadTimeout.set(limits.answerTime, on: channel)
            try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
            try pipeline.addHandler(RequestHandler(responder: responder, limits: limits, logger: logger))
            return Value(channel: channel)
        }
    }

    /// Returns when the connection is closed.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            // A connection that broke is closed like any other.
            _ = try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

/// Bounds on what a connection holds and how long it takes.
struct ConnectionLimits: Sendable {
    /// Of one request.
    let bodyBytes: Int
    /// Of one request, whoever sends it: enough for most, and too little to fill the memory with.
    var unquestionedBytes: Int { min(bodyBytes, 65_536) }
    /// The executor on which requests with large bodies run.
    let largeWork: LargeWork
    /// The bytes that all of them hold.
    let budget: ByteBudget
    /// nil where nobody needs a token.
    let tokens: (any TokenVerifier)?
    /// For a head to arrive, from its first byte on.
    let headTime: TimeAmount
    /// For a body to end or to grow by `leastGrowth`.
    let bodyTime: TimeAmount
    /// The bytes that a body gains in `bodyTime` at 1 kB a second.
    var leastGrowth: Int { Int(bodyTime.nanoseconds / 1_000_000) }
    /// For a client to take something of what it has been sent.
    let answerTime: TimeAmount
    /// Between two requests.
    let idleTime: TimeAmount

    /// Returns how large the body of a request may be, by who sends it.
    ///
    /// Whoever has no token is told so as soon as its request is answered; its body is not kept for that.
    func bodyBytes(of head: HTTPRequestHead) -> Int {
        guard let tokens else { return bodyBytes }
        let token = head.headers.first(name: "authorization").flatMap(AuthorizationHeader.token)
        return token.map(tokens.seemsGood) ?? false ? bodyBytes : unquestionedBytes
    }
}
