/// Strings of JSON, with the escapes that RFC 8785 section 3.2.2.2 makes canonical.
package enum JSONQuoting {
    private static let hex = Array("0123456789abcdef".utf8)

    /// Appends a text in quotes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append($0, to: &bytes) }
    }

    /// Appends a text in UTF-8 in quotes.
    package static func append(_ utf8: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Runs without escapes, which is most of all text, are copied whole.
        var start = 0
        for index in 0..<utf8.count where needsEscape(utf8[index]) {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
            escape(utf8[index], &bytes)
            start = index + 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(_ byte: UInt8, _ bytes: inout [UInt8]) {
        switch byte {
        case 0x08: bytes.append(contentsOf: "\\b".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0C: bytes.append(contentsOf: "\\f".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(hex[Int(byte >> 4)])
            bytes.append(hex[Int(byte & 15)])
        default:
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        }
    }
}
