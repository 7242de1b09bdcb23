import NIOCore
import Testing

@testable import Gateway

/// Headers of the PROXY protocol as bytes.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    private static let four: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 5, 0xD4, 0x31, 0x1F, 0x90]
    private static let six: [UInt8] =
        [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 0, count: 15) + [1]
        + [0xD4, 0x31, 0x1F, 0x90]

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func block(
        _ command: UInt8, _ family: UInt8, _ content: [UInt8], length: UInt16? = nil
    ) -> [UInt8] {
        let length = length ?? UInt16(content.count)
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    private static let headers: [(bytes: [UInt8], client: String?)] = [
        (text("PROXY TCP4 192.0.2.7 10.0.0.5 54321 8080\r\n"), "192.0.2.7"),
        (text("PROXY TCP6 2001:db8::7 fd00::5 54321 8080\r\n"), "2001:db8::7"),
        (text("PROXY UNKNOWN\r\n"), nil),
        (text("PROXY UNKNOWN anything at all\r\n"), nil),
        (block(0x21, 0x11, four), "192.0.2.7"),
        (block(0x21, 0x21, six), "2001:db8::7"),
        // Additional fields follow the addresses.
        (block(0x21, 0x11, four + [0x04, 0, 2, 0, 0]), "192.0.2.7"),
        (block(0x21, 0x11, four + [UInt8](repeating: 4, count: 4_084)), "192.0.2.7"),
        // A health check of the balancer, and clients without an address.
        (block(0x20, 0x00, []), nil),
        (block(0x20, 0x11, four), nil),
        (block(0x21, 0x00, []), nil),
        (block(0x21, 0x31, [UInt8](repeating: 0, count: 216)), nil),
        (block(0x21, 0x12, four), nil),
    ]

    @Test("A complete header names the client, and is removed", arguments: headers)
    func isComplete(_ bytes: [UInt8], _ client: String?) {
        var buffer = ByteBuffer(bytes: bytes + Self.text("GET /"))
        #expect(ProxyHeader.read(from: &buffer) == .complete(ProxyHeader(client: client)))
        #expect(String(buffer: buffer) == "GET /")
    }

    @Test("Each part of a header is incomplete, and keeps its bytes", arguments: headers)
    func isIncomplete(_ bytes: [UInt8], _ client: String?) {
        for count in 0..<min(bytes.count, 300) {
            var buffer = ByteBuffer(bytes: bytes[..<count])
            #expect(ProxyHeader.read(from: &buffer) == .incomplete, "\(count)")
            #expect(buffer.readableBytes == count)
        }
    }

    private static let others: [[UInt8]] = [
        text("POST /v1/push HTTP/1.1\r\n"), text("PROPFIND / HTTP/1.1\r\n"),
        text("PROXYGET / HTTP/1.1\r\n"), text("\r\nGET / HTTP/1.1\r\n"), [0x16, 3, 1, 2, 0, 1],
        text("\r\n\r\nGET / HTTP/1.1\r\n"),

    ]

    @Test("A request or the start of TLS is no header", arguments: others)
    func isAbsent(_ bytes: [UInt8]) {
        var buffer = ByteBuffer(bytes: bytes)
        #expect(ProxyHeader.read(from: &buffer) == .absent)
        #expect(buffer.readableBytes == bytes.count)
    }

    private static let malformedHeaders: [[UInt8]] = [
        text("PROXY TCP4 192.0.2.7 10.0.0.5 54321 8080\n"),
        text("PROXY TCP4 192.0.2.7 10.0.0.5 54321\r\n"),
        text("PROXY TCP4 192.0.2.7 10.0.0.5 54321 8080 1\r\n"),
        text("PROXY TCP4  192.0.2.7 10.0.0.5 54321 8080\r\n"),
        text("PROXY TCP4 2001:db8::7 fd00::5 54321 8080\r\n"),
        text("PROXY TCP6 192.0.2.7 10.0.0.5 54321 8080\r\n"),
        text("PROXY TCP4 192.0.2.7 balancer 54321 8080\r\n"),
        text("PROXY TCP4 192.0.2.7 10.0.0.5 65536 8080\r\n"),
        text("PROXY TCP4 192.0.2.7 10.0.0.5 +5432 8080\r\n"),
        text("PROXY TCP4 192.0.2.007 10.0.0.5 54321 8080\r\n"),
        text("PROXY tcp4 192.0.2.7 10.0.0.5 54321 8080\r\n"),
        text("PROXY UDP4 192.0.2.7 10.0.0.5 54321 8080\r\n"), text("PROXY \r\n"),
        text("PROXY ") + [0xFF as UInt8, 13, 10],
        text("PROXY UNKNOWN " + String(repeating: "A", count: 93)),
        block(0x11, 0x11, four), block(0x22, 0x11, four), block(0x21, 0x41, four), block(0x21, 0x13, four),
        block(0x21, 0x11, Array(four.dropLast())), block(0x21, 0x21, four),
        block(0x21, 0x11, four, length: 4_097),

    ]

    @Test("A malformed header has a reason", arguments: malformedHeaders)
    func isMalformed(_ bytes: [UInt8]) {
        var buffer = ByteBuffer(bytes: bytes)
        guard case .malformed = ProxyHeader.read(from: &buffer) else {
            Issue.record("the header was not refused")
            return
        }
    }
}
