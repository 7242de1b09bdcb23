import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import NIOCore
import Operations
import RecordStore

/// Sends a snapshot in pieces, each read after the client has read the previous piece.
struct SnapshotStream: Sendable {
    let lines: SnapshotLines
    let box: RulesBox
    let logger: Logger
    /// nil if the gateway needs no tokens.
    let standing: TokenStanding?
    /// Returns true while the client has the rights of the snapshot.
    let isCurrent: @Sendable () -> Bool
    /// The pieces in memory: read, written, sent, and delayed until another follows.
    private static let copies = 4
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
        // An estimate, until the first piece arrives.
        try context.hold(Self.expected)
        let patience = context.deadline - context.received.arrival
        let body = ResponseBody { writer in
            do {
                let packer = isPacked ? try GzipStream() : nil
                try await lines.write(patience: patience) { piece, records in
                    // A snapshot can last hours, so rights may have changed during the read.
                    guard await standing?.holds() ?? true, isCurrent() else { throw AccessEnded() }
                    let held = Self.copies * piece.count
                    if records > 0, lease?.resize(to: held) == false { throw ByteBudget.overloaded }
                    try await writer.write(
                        await context.working(on: piece.count) { ByteBuffer(bytes: packer?.pack(piece) ?? piece) })
                }
                if let packer { try await writer.write(ByteBuffer(bytes: packer.pack([], isLast: true))) }
            } catch {
                if error is AccessEnded { logger.notice("snapshot id=\(id) ended: \(error)") }
                // The client continues from its cursor, under the reloaded rules.
                if (error as? StoreError)?.kind == .schemaChanged { box.askForReload() }
                if error is StoreError || error is Problem { logger.error("snapshot id=\(id) broke off: \(error)") }
                throw error
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// The client lost its token, or its rights have changed.
private struct AccessEnded: Error, CustomStringConvertible {
    var description: String { "its token was withdrawn or has expired, or the rights of its client have changed" }
}
