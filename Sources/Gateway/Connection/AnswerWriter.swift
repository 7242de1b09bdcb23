import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Receives the bytes of an answer on the event loop of the connection.
protocol AnswerSink: AnyObject {
    func send(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>)
    /// Sends the last bytes, in one or two buffers.
    func end(_ bytes: ByteBuffer, _ rest: ByteBuffer?)
}

/// Writes an answer.
///
/// A longer answer waits after each piece until the client has read it. So a slow client keeps only one piece in
/// memory.
struct AnswerWriter: Sendable {
    let channel: any Channel
    let sink: NIOLoopBound<any AnswerSink>
    let requestID: String
    let version: HTTPVersion
    let isKeptAlive: Bool
    /// The answer to HEAD has no body.
    let isHead: Bool

    func write(_ response: Response) async {
        let head = AnswerHead(
            version: version, status: response.status.code, fields: response.headers, requestID: requestID,
            connection: !isKeptAlive ? "close" : version == .http1_0 ? "keep-alive" : nil)
        do {
            try await response.body.write(Pieces(self, head: head, form: form(response)))
        } catch {
            // The client is gone, or the answer is incomplete, which only a closed connection can show.
            channel.close(promise: nil)
        }
    }

    private enum Form {
        case framed(AnswerHead.Framing)
        /// Collects the body: HTTP/1.0 has no chunks, and without a length the client cannot detect a truncated body.
        case collected
    }

    private func form(_ response: Response) -> Form {
        let status = response.status.code
        if status == 204 || status == 304 || status < 200 { return .framed(.absent) }
        // Answers to HEAD may contain the length of the body.
        if isHead, let count = response.headers[.contentLength].flatMap({ Int($0) }) { return .framed(.length(count)) }
        if let count = response.body.contentLength { return .framed(.length(count)) }
        if version == .http1_0 { return isHead ? .framed(.absent) : .collected }
        return .framed(.chunked)
    }

    private struct Pieces: ResponseBodyWriter {
        private let writer: AnswerWriter
        /// nil after it was sent.
        private var head: AnswerHead?
        private let form: Form
        private var held: ByteBuffer?

        /// The maximum size of a body that is copied after its head.
        private static let copied = 16_384

        init(_ writer: AnswerWriter, head: AnswerHead, form: Form) {
            self.writer = writer
            self.head = head
            self.form = form
        }

        mutating func write(_ buffer: ByteBuffer) async throws {
            guard let earlier = held else {
                held = buffer
                return
            }
            guard case .framed(let framing) = form else {
                held?.writeImmutableBuffer(buffer)
                return
            }
            held = buffer
            if writer.isHead || framing == .absent { return }
            var out = ByteBuffer()
            if let head {
                self.head = nil
                head.write(framing, to: &out)
            }
            Self.append(earlier, framing: framing, to: &out)
            try await send(out)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            var body = held
            let framing: AnswerHead.Framing
            switch form {
            case .framed(let known): framing = known
            case .collected: framing = .length(body?.readableBytes ?? 0)
            }
            if writer.isHead || framing == .absent || body?.readableBytes == 0 { body = nil }
            let isCopied = framing == .chunked || (body?.readableBytes ?? 0) <= Self.copied
            var out = ByteBufferAllocator().buffer(capacity: 384 + (isCopied ? body?.readableBytes ?? 0 : 0))
            head?.write(framing, to: &out)
            if isCopied, let whole = body {
                Self.append(whole, framing: framing, to: &out)
                body = nil
            }
            if framing == .chunked, !writer.isHead { out.writeStaticString("0\r\n\r\n") }
            // One switch to the event loop for everything.
            let (sink, last, rest) = (writer.sink, out, body)
            if writer.channel.eventLoop.inEventLoop {
                sink.value.end(last, rest)
            } else {
                writer.channel.eventLoop.execute { sink.value.end(last, rest) }
            }
        }

        private static func append(_ piece: ByteBuffer, framing: AnswerHead.Framing, to out: inout ByteBuffer) {
            // An empty chunk would end the body.
            guard framing == .chunked, piece.readableBytes > 0 else {
                out.writeImmutableBuffer(piece)
                return
            }
            out.writeString(String(piece.readableBytes, radix: 16))
            out.writeStaticString("\r\n")
            out.writeImmutableBuffer(piece)
            out.writeStaticString("\r\n")
        }

        private func send(_ bytes: ByteBuffer) async throws {
            let eventLoop = writer.channel.eventLoop
            let promise = eventLoop.makePromise(of: Void.self)
            let sink = writer.sink
            eventLoop.execute { sink.value.send(bytes, promise) }
            try await promise.futureResult.get()
        }
    }
}
