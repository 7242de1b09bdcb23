import MergeCore
import NIOCore

/// A header of the PROXY protocol, with which a TCP balancer names its client.
///
/// HAProxy's `proxy-protocol.txt` defines version 1 (a line) and version 2 (a block).
struct ProxyHeader: Equatable, Sendable {
    /// The address of the client.
    ///
    /// nil for the balancer's own connections, such as health checks, and for clients without an IP address.
    let client: String?

    enum Reading: Equatable {
        /// The bytes are no header.
        case absent
        /// More bytes are needed.
        case incomplete
        /// The header, which was removed from the bytes.
        case complete(ProxyHeader)
        /// The reason for which the header cannot be read.
        case malformed(String)
    }

    private static let lineStart = Array("PROXY ".utf8)
    private static let blockStart: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    /// The maximum bytes of a line with its end.
    private static let longestLine = 107
    /// The maximum bytes after the length of a block: addresses and additional fields.
    private static let longestBlock = 4_096

    /// Reads and removes a header at the start of a connection.
    static func read(from bytes: inout ByteBuffer) -> Reading {
        let view = bytes.readableBytesView
        for (start, read) in [(lineStart, readLine), (blockStart, readBlock)]
        where start.starts(with: view.prefix(start.count)) {
            return view.count < start.count ? .incomplete : read(&bytes)
        }
        return .absent
    }

    // MARK: Version 1

    private static func readLine(_ bytes: inout ByteBuffer) -> Reading {
        let view = bytes.readableBytesView.prefix(longestLine)
        guard let end = view.firstIndex(of: 10) else {
            return view.count < longestLine ? .incomplete : .malformed("its line has more than \(longestLine) bytes")
        }
        let line = view[..<end]
        guard line.last == 13, let text = String(validating: line.dropLast(), as: UTF8.self) else {
            return .malformed("its line does not end with CR LF, or is not ASCII")
        }
        bytes.moveReaderIndex(forwardBy: line.count + 1)
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        // The rest of such a line has no meaning.
        if parts[1] == "UNKNOWN" { return .complete(ProxyHeader(client: nil)) }
        guard parts.count == 6, let addresses = addresses(parts[2...3], family: parts[1]),
            parts[4...5].allSatisfy(isPort)
        else { return .malformed("its line is not “PROXY TCP4|TCP6 CLIENT BALANCER PORT PORT”") }
        return .complete(ProxyHeader(client: addresses[0].text))
    }

    private static func addresses(_ texts: ArraySlice<String>, family: String) -> [NetworkAddress]? {
        let found =
            switch family {
            case "TCP4": texts.compactMap(NetworkAddress.init(version4:))
            case "TCP6": texts.compactMap(NetworkAddress.init(version6:))
            default: [NetworkAddress]()
            }
        return found.count == texts.count ? found : nil
    }

    private static func isPort(_ text: String) -> Bool { UInt16(text).map { String($0) == text } ?? false }

    // MARK: Version 2

    private static func readBlock(_ bytes: inout ByteBuffer) -> Reading {
        var rest = bytes
        rest.moveReaderIndex(forwardBy: blockStart.count)
        guard let command = rest.readInteger(as: UInt8.self), let family = rest.readInteger(as: UInt8.self),
            let length = rest.readInteger(as: UInt16.self)
        else { return .incomplete }
        guard command == 0x20 || command == 0x21 else { return .malformed("its version and command are unknown") }
        guard length <= longestBlock else { return .malformed("it has more than \(longestBlock) bytes") }
        guard var block = rest.readSlice(length: Int(length)) else { return .incomplete }
        bytes = rest
        if command == 0x20 { return .complete(ProxyHeader(client: nil)) }
        switch family {
        case 0x11: return client(in: &block, addressBytes: 4)
        case 0x21: return client(in: &block, addressBytes: 16)
        // No address, UDP, or a socket of the file system.
        case 0x00, 0x12, 0x22, 0x31, 0x32: return .complete(ProxyHeader(client: nil))
        default: return .malformed("its family of addresses is unknown")
        }
    }

    /// Reads the first of two addresses, which two ports and further fields follow.
    private static func client(in block: inout ByteBuffer, addressBytes: Int) -> Reading {
        guard block.readableBytes >= 2 * addressBytes + 4, let bytes = block.readSlice(length: addressBytes),
            let text = try? SocketAddress(packedIPAddress: bytes, port: 0).ipAddress
        else { return .malformed("it is too short for its addresses") }
        return .complete(ProxyHeader(client: text))
    }
}
