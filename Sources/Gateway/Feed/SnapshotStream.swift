import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import NIOCore
import Operations
import RecordStore

/// Answers a snapshot in pieces as they are read; the next is read once the client has taken the last.
struct SnapshotStream: Sendable {
    let lines: SnapshotLines
    let box: RulesBox
    let logger: Logger
    /// nil if no client needs a token.
    let standing: TokenStanding?
    /// Returns true as long as the active rules give the client the rights under which the snapshot began.
    let isCurrent: @Sendable () -> Bool
    /// The pieces that are held at once: one is read, one written, one sent, and one held back until another follows.
    private static let copies = 4
    /// Bytes that a snapshot holds as far as nobody knows more.
    private static let expected = copies << 20

    func answer(_ context: GatewayContext, isHead: Bool) async throws -> Response {
        let isPacked = Reply.acceptsGzip(context.headers)
        var headers: HTTPFields = [
            .contentType: "application/x-ndjson", .vary: "Accept-Encoding", .cacheControl: "no-store",
        ]
        if isPacked { headers[.contentEncoding] = "gzip" }
        if isHead {
            return Response(status: .ok, headers: headers, body: ResponseBody { try await $0.finish(nil) })
        }
        let (lines, box, logger, id) = (lines, box, logger, context.received.id)
        let (standing, isCurrent) = (standing, isCurrent)
        let lease = context.received.lease
        // Until the first piece tells how long they are.
        try context.hold(Self.expected)
        let patience = context.deadline - context.received.arrival
        let body = ResponseBody { writer in
            do {
                let packer = isPacked ? try GzipStream() : nil
                try await lines.write(patience: patience) { piece, records in
                    // A snapshot can take hours. What was read meanwhile is for a client that may read it now.
                    guard await standing?.holds() ?? true, isCurrent() else { throw AccessEnded() }
                    let held = Self.copies * piece.count
                    if records > 0, lease?.resize(to: held) == false { throw ByteBudget.overloaded }
                    try await writer.write(
                        await context.working(on: piece.count) { ByteBuffer(bytes: packer?.pack(piece) ?? piece) })
                }
                if let packer { try await writer.write(ByteBuffer(bytes: packer.pack([], isLast: true))) }
            } catch {
                if error is AccessEnded { logger.notice("snapshot id=\(id) ended: \(error)") }
                // The client goes on from its last cursor, under the rules that are read next.
                if (error as? StoreError)?.kind == .schemaChanged { box.askForReload() }
                if error is StoreError || error is Problem { logger.error("snapshot id=\(id) broke off: \(error)") }
                throw error
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// The client of a snapshot lost its token, or may read other rows or groups than at the beginning.
private struct AccessEnded: Error, CustomStringConvertible {
    var description: String { "its token was withdrawn or has expired, or the rights of its client have changed" }
}
