import HTTPTypes
import NIOCore
import NIOHTTP1

/// The status line and headers of an answer (RFC 9112 section 4).
struct AnswerHead {
    /// Marks the end of the body (RFC 9112 section 6.3).
    enum Framing: Equatable {
        case length(Int)
        case chunked
        /// The status has no body.
        case absent
    }

    let version: HTTPVersion
    let status: Int
    let fields: HTTPFields
    let requestID: String
    /// nil for the default of the version.
    let connection: StaticString?

    /// Writes the head with its final empty line.
    ///
    /// The types of names and values exclude line breaks.
    func write(_ framing: Framing, to buffer: inout ByteBuffer) {
        buffer.writeStaticString(version == .http1_0 ? "HTTP/1.0 " : "HTTP/1.1 ")
        buffer.writeString(String(status))
        buffer.writeStaticString(" ")
        buffer.writeString(HTTPResponseStatus(statusCode: status).reasonPhrase)
        buffer.writeStaticString("\r\n")
        var saysWhoKeepsIt = false
        for field in fields where !Self.isAboutTheMessage(field.name) {
            if field.name == .cacheControl { saysWhoKeepsIt = true }
            line(field.name.rawName, value: field.value, to: &buffer)
        }
        // By default only the client may cache an answer, and must revalidate it.
        if !saysWhoKeepsIt { buffer.writeStaticString("cache-control: private, no-cache\r\n") }
        // Browsers must not interpret data as a page or script.
        buffer.writeStaticString("x-content-type-options: nosniff\r\n")
        line("x-request-id", value: requestID, to: &buffer)
        line("date", value: HTTPDate.now, to: &buffer)
        buffer.writeStaticString("server: fieldmerge\r\n")
        if let connection {
            buffer.writeStaticString("connection: ")
            buffer.writeStaticString(connection)
            buffer.writeStaticString("\r\n")
        }
        switch framing {
        case .length(let count): line("content-length", value: String(count), to: &buffer)
        case .chunked: buffer.writeStaticString("transfer-encoding: chunked\r\n")
        case .absent: break
        }
        buffer.writeStaticString("\r\n")
    }

    private func line(_ name: String, value: String, to buffer: inout ByteBuffer) {
        buffer.writeString(name)
        buffer.writeStaticString(": ")
        buffer.writeString(value)
        buffer.writeStaticString("\r\n")
    }

    private static func isAboutTheMessage(_ name: HTTPField.Name) -> Bool {
        name == .contentLength || name == .transferEncoding || name == .connection
    }
}
