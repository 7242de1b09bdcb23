import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import MergeService
import MergeWire
import NIOCore
import RecordStore
import Synchronization

/// Sends a page of records, a long page in pieces.
///
/// The database's thread encodes each piece and drops its rows. So a slow client keeps text in memory, but no database
/// connection.
struct PageStream: Sendable {
    let service: MergeService
    let logger: Logger
    /// The bytes after which a page ends early.
    static let mostBytes = 8 << 20
    var isHead = false

    func answer(
        _ context: GatewayContext, _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer?
    ) async throws -> Response {
        let pieces = read(resource, after: key, limit: limit, for: viewer, context)
        var beginning = pieces.makeAsyncIterator()
        // Before the first byte is sent, an error can still have its own status.
        let first = try await beginning.next() ?? []
        let lease = context.received.lease
        guard let second = try await beginning.next() else {
            return await context.working(on: first.count) { Reply.json(first, to: context.headers) }
        }
        let isPacked = Reply.acceptsGzip(context.headers)
        var headers: HTTPFields = [.contentType: "application/json", .vary: "Accept-Encoding"]
        if isPacked { headers[.contentEncoding] = "gzip" }
        // The length is unknown, so further reading is useless.
        if isHead {
            return Response(status: .ok, headers: headers, body: ResponseBody { try await $0.finish(nil) })
        }
        let (logger, id) = (logger, context.received.id)
        let body = ResponseBody { writer in
            do {
                let packer = isPacked ? try GzipStream() : nil
                func packed(_ piece: [UInt8], isLast: Bool = false) async -> ByteBuffer {
                    await context.working(on: piece.count) {
                        ByteBuffer(bytes: packer?.pack(piece, isLast: isLast) ?? piece)
                    }
                }
                try await writer.write(await packed(first))
                lease?.give(first.count)
                try await writer.write(await packed(second))
                lease?.give(second.count)
                for try await piece in pieces {
                    try await writer.write(await packed(piece))
                    lease?.give(piece.count)
                }
                if isPacked { try await writer.write(await packed([], isLast: true)) }
            } catch let error as StoreError {
                logger.error("request id=\(id) broke off: \(error)")
                throw error
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    /// Returns the text of the page in pieces.
    ///
    /// A short page is one piece.
    private func read(
        _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer?,
        _ context: GatewayContext
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let text = PageText(resource)
                    let held = HeldPieces(context.received.lease)
                    let next = try await service.page(
                        resource, after: key, limit: limit, for: viewer, deadline: context.deadline,
                        caller: context.received.caller
                    ) { records in
                        let before = text.byteCount
                        var finds = HeldPieces.Room.found
                        if let piece = text.add(records) {
                            finds = held.take(piece)
                            if finds == .refused { return nil }
                            continuation.yield(piece)
                        }
                        let bytes = text.byteCount
                        return finds == .found && bytes < Self.mostBytes ? bytes - before : nil
                    }
                    let end = text.end(next: next)
                    guard !held.wasRefused, held.take(end) != .refused else { throw ByteBudget.overloaded }
                    continuation.yield(end)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

/// The memory of pieces that wait for the client.
final class HeldPieces: Sendable {
    enum Room {
        case found
        /// The memory is used up.
        ///
        /// Earlier pieces were sent, so the page ends with this piece.
        case last
        /// The memory is used up, and nothing was sent.
        case refused
    }

    private let lease: ByteLease?
    private let count = Atomic<Int>(0)
    private let refused = Atomic<Bool>(false)

    init(_ lease: ByteLease?) {
        self.lease = lease
    }

    /// The first piece was refused, so the page fails.
    var wasRefused: Bool { refused.load(ordering: .relaxed) }

    func take(_ piece: [UInt8]) -> Room {
        let isFirst = count.wrappingAdd(1, ordering: .relaxed).newValue == 1
        guard let lease, !lease.take(piece.count) else { return .found }
        if isFirst {
            refused.store(true, ordering: .relaxed)
            return .refused
        }
        lease.force(piece.count)
        return .last
    }
}
