import NIOCore
import NIOPosix

/// Lets clients reach a server's socket over TCP, on a free port of loopback.
package enum SocketRelay {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Relays for as long as `body` runs, which gets the port.
    ///
    /// - Parameters:
    ///   - socket: the path of the server's socket.
    ///   - delay: the time for which bytes of either side are on their way.
    package static func with<Answer: Sendable>(
        socket: String, delay: Duration = .zero, _ body: @escaping @Sendable (Int) async throws -> Answer
    ) async throws -> Answer {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0, childChannelInitializer: wrap)
        let port = listener.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                try await listener.executeThenClose { clients in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await client in clients { group.addTask { await serve(client, socket, delay) } }
                    }
                }
                return nil
            }
            group.addTask { try await body(port) }
            defer { group.cancelAll() }
            while let answer = try await group.next() {
                if let answer { return answer }
            }
            throw Shell.Failure(description: "the relay ended early")
        }
    }

    @Sendable private static func wrap(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
    }

    /// Ends quietly with either side.
    private static func serve(_ client: Connection, _ socket: String, _ delay: Duration) async {
        try? await client.executeThenClose { fromClient, toClient in
            let server = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: socket, channelInitializer: wrap)
            try await server.executeThenClose { fromServer, toServer in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await pass(fromClient, on: toServer, after: delay) }
                    group.addTask { try? await pass(fromServer, on: toClient, after: delay) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    private static func pass(
        _ bytes: NIOAsyncChannelInboundStream<ByteBuffer>, on other: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        after delay: Duration
    ) async throws {
        guard delay > .zero else {
            for try await buffer in bytes { try await other.write(buffer) }
            return
        }
        let (travelling, road) = AsyncStream<(ByteBuffer, due: ContinuousClock.Instant)>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { road.finish() }
                for try await buffer in bytes { road.yield((buffer, .now + delay)) }
            }
            for await (buffer, due) in travelling {
                try await Task.sleep(until: due, clock: .continuous)
                try await other.write(buffer)
            }
            try await group.waitForAll()
        }
    }
}
