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
    let requestID: String
    let version: HTTPVersion
    let isKeptAlive: Bool
    /// The answer has the headers of one to GET, and no body.
    let isHead: Bool

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
        headers.add(name: "x-request-id", value: requestID)
        headers.add(name: "date", value: HTTPDate.now)
        headers.add(name: "server", value: "fieldmerge")
        if !isKeptAlive {
            headers.replaceOrAdd(name: "connection", value: "close")
        } else if version == .http1_0 {
            headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
        var isCollected = false
        if response.body.contentLength == nil, !headers.contains(name: "content-length") {
            // HTTP/1.0 knows no pieces, and a body that ends with the connection could not be told from half of it.
            isCollected = version == .http1_0
            if !isCollected { headers.add(name: "transfer-encoding", value: "chunked") }
        }
        let head = HTTPResponseHead(
            version: version, status: HTTPResponseStatus(statusCode: response.status.code), headers: headers)
        do {
            try await response.body.write(
                Pieces(channel: channel, head: head, isCollected: isCollected, isHead: isHead))
        } catch {
            // The client is gone, or what it got cannot be completed: it has to see that.
            channel.close(promise: nil)
        }
    }

    private struct Pieces: ResponseBodyWriter {
        let channel: any Channel
        /// nil once it has left.
        var head: HTTPResponseHead?
        let isCollected: Bool
        let isHead: Bool
        private var held: ByteBuffer?

        init(channel: any Channel, head: HTTPResponseHead, isCollected: Bool, isHead: Bool) {
            self.channel = channel
            self.head = head
            self.isCollected = isCollected
            self.isHead = isHead
        }

        mutating func write(_ buffer: ByteBuffer) async throws {
            if isHead, !isCollected { return }
            guard let earlier = held else {
                held = buffer
                return
            }
            if isCollected {
                held?.writeImmutableBuffer(buffer)
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
            var head = head
            if isCollected { head?.headers.add(name: "content-length", value: String(held?.readableBytes ?? 0)) }
            let (channel, body) = (channel, isHead ? nil : held)
            @Sendable func leave(_ head: HTTPResponseHead?) {
                if let head { channel.write(HTTPServerResponsePart.head(head), promise: nil) }
                if let body, body.readableBytes > 0 {
                    channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
                }
                channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            }
            // One hop to the connection's thread for all of it.
            if channel.eventLoop.inEventLoop {
                leave(head)
            } else {
                channel.eventLoop.execute { [head] in leave(head) }
            }
        }
    }
}
