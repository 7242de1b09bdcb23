import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Writes the answer to one request.
///
/// An answer of one piece leaves in one go. Of a longer one each piece waits until the client has taken the last, so
/// that a slow reader holds no more than one.
struct AnswerWriter: Sendable {
    let channel: any Channel
    let version: HTTPVersion
    /// The client asked for the connection to be closed afterwards.
    let isLast: Bool

    func write(_ respond: () async throws -> Response) async {
        let response: Response
        do {
            response = try await respond()
        } catch {
            // Every error is an answer by now, so this one is of the server itself.
            channel.close(promise: nil)
            return
        }
        var headers = HTTPHeaders(response.headers)
        if !headers.contains(name: "content-length"), response.body.contentLength == nil {
            headers.add(name: "transfer-encoding", value: "chunked")
        }
        headers.add(name: "date", value: HTTPDate.now)
        headers.add(name: "server", value: "fieldmerge")
        if isLast { headers.replaceOrAdd(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: version, status: HTTPResponseStatus(statusCode: response.status.code), headers: headers)
        do {
            try await response.body.write(Pieces(channel: channel, head: head, isLast: isLast))
        } catch {
            // The client is gone, or what it got cannot be completed: it has to see that.
            channel.close(promise: nil)
        }
    }

    private struct Pieces: ResponseBodyWriter {
        let channel: any Channel
        /// nil once it has left.
        var head: HTTPResponseHead?
        let isLast: Bool
        private var held: ByteBuffer?

        init(channel: any Channel, head: HTTPResponseHead, isLast: Bool) {
            self.channel = channel
            self.head = head
            self.isLast = isLast
        }

        mutating func write(_ buffer: ByteBuffer) async throws {
            guard let earlier = held else {
                held = buffer
                return
            }
            held = buffer
            if let head {
                self.head = nil
                channel.write(HTTPServerResponsePart.head(head), promise: nil)
            }
            try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(earlier)))
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            let (channel, head, body, isLast) = (channel, head, held, isLast)
            @Sendable func leave() {
                if let head { channel.write(HTTPServerResponsePart.head(head), promise: nil) }
                if let body, body.readableBytes > 0 {
                    channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
                }
                let end = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
                if isLast { end.whenComplete { _ in channel.close(promise: nil) } }
            }
            // One hop to the connection's thread for all of it.
            if channel.eventLoop.inEventLoop { leave() } else { channel.eventLoop.execute { leave() } }
        }
    }
}
