import NIOCore
import NIOPosix
import Synchronization

/// A proxy between a gateway and its MariaDB server that breaks connections around COMMIT.
package final class CuttingProxy: Sendable {
    /// The moment at which a connection is broken.
    package enum Cut: Sendable {
        /// The server never gets the COMMIT.
        case before
        /// The server has committed, and its answer is lost.
        case after
    }

    private struct State {
        var plan: [Cut?] = []
        var isClosedAfterCut = false
        var isClosed = false
        var cuts = 0
    }

    /// The path of the proxy's socket.
    package let socket: String
    private let server: String
    private let folder: TemporaryFolder
    private let state = Mutex(State())

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private init(server: String) throws {
        self.server = server
        folder = try TemporaryFolder()
        socket = folder.path + "/p"
    }

    /// Runs a proxy for as long as `body` does.
    ///
    /// - Parameter server: the path of the server's socket.
    package static func with<Answer: Sendable>(
        server: String, _ body: @escaping @Sendable (CuttingProxy) async throws -> Answer
    ) async throws -> Answer {
        let proxy = try CuttingProxy(server: server)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(unixDomainSocketPath: proxy.socket, childChannelInitializer: wrap)
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                try await listener.executeThenClose { clients in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await client in clients { group.addTask { await proxy.serve(client) } }
                    }
                }
                return nil
            }
            group.addTask { try await body(proxy) }
            defer { group.cancelAll() }
            while let answer = try await group.next() {
                if let answer { return answer }
            }
            throw Shell.Failure(description: "the proxy ended early")
        }
    }

    @Sendable private static func wrap(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
    }

    /// Plans the next COMMITs in their order; nil lets one pass.
    ///
    /// All later ones pass.
    ///
    /// - Parameter closing: if true, the first cut also breaks all other connections, and none can be opened after it.
    package func plan(_ plan: [Cut?], closing: Bool = false) {
        state.withLock { state in
            state.plan = plan
            state.isClosedAfterCut = closing
        }
    }

    /// Lets clients connect again.
    package func reopen() {
        state.withLock { state in
            state.isClosedAfterCut = false
            state.isClosed = false
        }
    }

    /// The number of connections that were cut.
    package var cuts: Int { state.withLock { $0.cuts } }

    private func nextCut() -> Cut? {
        state.withLock { state in
            guard !state.plan.isEmpty, let cut = state.plan.removeFirst() else { return nil }
            state.cuts += 1
            if state.isClosedAfterCut { state.isClosed = true }
            return cut
        }
    }

    private func serve(_ client: Connection) async {
        let isClosed = state.withLock { $0.isClosed }
        // A proxy breaks connections on purpose, so their errors are ignored.
        try? await client.executeThenClose { fromClient, toClient in
            if isClosed { return }
            let upstream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(unixDomainSocketPath: server, channelInitializer: Self.wrap)
            try await upstream.executeThenClose { fromServer, toServer in
                let isLost = Flag()
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await self.forward(fromClient, toServer, isLost) }
                    group.addTask { try? await self.answer(fromServer, toClient, isLost) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    /// - Parameter isLost: set when the server's next answer must not be forwarded.
    private func forward(
        _ fromClient: NIOAsyncChannelInboundStream<ByteBuffer>, _ toServer: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ isLost: Flag
    ) async throws {
        var commands = MariaDBCommands()
        for try await buffer in fromClient {
            // Connections from before the cut break too.
            if state.withLock({ $0.isClosed }) { return }
            if commands.take(buffer).contains("COMMIT") {
                switch nextCut() {
                case .before: return
                case .after: isLost.raise()
                case nil: break
                }
            }
            try await toServer.write(buffer)
        }
    }

    private func answer(
        _ fromServer: NIOAsyncChannelInboundStream<ByteBuffer>, _ toClient: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ isLost: Flag
    ) async throws {
        for try await buffer in fromServer {
            if isLost.isRaised { return }
            try await toClient.write(buffer)
        }
    }
}

/// Reads the statements that a client of MariaDB sends as text.
///
/// Source: https://mariadb.com/kb/en/0-packet/ and https://mariadb.com/kb/en/com_query/
private struct MariaDBCommands {
    private var bytes = ByteBuffer()
    private static let query: UInt8 = 3

    /// - Returns: the statements that are complete with these bytes.
    mutating func take(_ new: ByteBuffer) -> [String] {
        bytes.writeImmutableBuffer(new)
        var statements: [String] = []
        while let header = bytes.getBytes(at: bytes.readerIndex, length: 4) {
            let length = Int(header[0]) | Int(header[1]) << 8 | Int(header[2]) << 16
            guard bytes.readableBytes >= 4 + length else { break }
            bytes.moveReaderIndex(forwardBy: 4)
            // A command begins a conversation, so its packet has the number 0.
            let payload = bytes.readBytes(length: length) ?? []
            if header[3] == 0, payload.first == Self.query {
                statements.append(String(decoding: payload.dropFirst(), as: UTF8.self))
            }
        }
        bytes.discardReadBytes()
        return statements
    }
}
