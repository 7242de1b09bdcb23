import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import MergeService
import MergeWire
import NIOCore
import RecordStore

/// Answers a page of records, a long one in pieces as they are read.
///
/// The rows of a piece are turned into text on the database's thread and dropped, and what a slow client has not taken
/// yet waits as text: it holds no connection to the database.
struct PageStream: Sendable {
    let service: MergeService
    let logger: Logger
    /// The bytes after which a page ends early: whoever asks does not have to take what was read for it.
    static let mostBytes = 8 << 20
    /// The answer has the headers of the page alone.
    var isHead = false

    func answer(
        _ context: GatewayContext, _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer?
    ) async throws -> Response {
        let pieces = read(resource, after: key, limit: limit, for: viewer, context.deadline)
        var beginning = pieces.makeAsyncIterator()
        // As long as nothing is sent, what goes wrong has a status of its own.
        let first = try await beginning.next() ?? []
        guard let second = try await beginning.next() else { return Reply.json(first, to: context.headers) }
        let isPacked = Reply.acceptsGzip(context.headers)
        var headers: HTTPFields = [.contentType: "application/json", .vary: "Accept-Encoding"]
        if isPacked { headers[.contentEncoding] = "gzip" }
        // Its length is not known before it is whole, so what follows would be read for nothing.
        if isHead {
            return Response(status: .ok, headers: headers, body: ResponseBody { try await $0.finish(nil) })
        }
        let (logger, id) = (logger, context.requestID)
        let body = ResponseBody { writer in
            do {
                let packer = isPacked ? try GzipStream() : nil
                func packed(_ piece: [UInt8], isLast: Bool = false) -> ByteBuffer {
                    ByteBuffer(bytes: packer?.pack(piece, isLast: isLast) ?? piece)
                }
                try await writer.write(packed(first))
                try await writer.write(packed(second))
                for try await piece in pieces { try await writer.write(packed(piece)) }
                if isPacked { try await writer.write(packed([], isLast: true)) }
            } catch let error as StoreError {
                logger.error("request id=\(id) broke off: \(error)")
                throw error
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    /// The text of the page in pieces; a short page is one.
    private func read(
        _ resource: Resource, after key: RecordKey?, limit: Int, for viewer: Viewer?,
        _ deadline: ContinuousClock.Instant
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let text = PageText(resource)
                    let next = try await service.page(
                        resource, after: key, limit: limit, for: viewer, deadline: deadline
                    ) {
                        let before = text.byteCount
                        if let piece = text.add($0) { continuation.yield(piece) }
                        let bytes = text.byteCount
                        return bytes < Self.mostBytes ? bytes - before : nil
                    }
                    continuation.yield(text.end(next: next))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
