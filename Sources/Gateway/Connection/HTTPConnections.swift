import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Serves HTTP/1.1 on each client connection.
///
/// Hummingbird's own channel streams bodies, with a task and two asynchronous sequences per connection. Here a channel
/// handler collects each body, and only complete requests cost a task.
struct HTTPConnections: ServerChildChannel {
    let responder: GatewayResponder
    let limits: ConnectionLimits
    let door: ClientDoor
    /// nil for plain HTTP.
    let certificate: ServerCertificate?
    /// The type of the parsing handler.
    ///
    /// If two event loops use this generic type for the first time at once, the Swift 6.3 runtime can crash. So the type
    /// is used before the first connection.
    private let parser = ObjectIdentifier(ByteToMessageHandler<HTTPRequestDecoder>.self)

    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                ProxyHeaderHandler(limits.proxies, isEncrypted: certificate != nil, logger: responder.logger))
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
            // A broken connection is closed like any other.
            _ = try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

struct ConnectionLimits: Sendable {
    /// The maximum bytes of a body.
    let bodyBytes: Int
    /// The maximum bytes of a body without a valid token.
    var unquestionedBytes: Int { min(bodyBytes, 65_536) }
    /// The executor for large bodies.
    let largeWork: LargeWork
    let budget: ByteBudget
    let proxies: TrustedProxies
    /// nil if the gateway needs no tokens.
    let tokens: (any TokenVerifier)?
    /// The timeout of a head, from its first byte.
    let headTime: TimeAmount
    /// The time in which a body must end or grow by `leastGrowth`.
    let bodyTime: TimeAmount
    /// The growth at 1 kB a second.
    var leastGrowth: Int { Int(bodyTime.nanoseconds / 1_000_000) }
    /// The time in which a client must read a part of its answer.
    let answerTime: TimeAmount
    /// The maximum time between two requests.
    let idleTime: TimeAmount

    /// Returns the maximum bytes of a body, which is small without a valid token.
    func bodyBytes(of head: HTTPRequestHead) -> Int {
        guard let tokens else { return bodyBytes }
        let token = head.headers.first(name: "authorization").flatMap(AuthorizationHeader.token)
        return token.map(tokens.seemsGood) ?? false ? bodyBytes : unquestionedBytes
    }
}
