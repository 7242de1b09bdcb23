/// Writes JSON strings with the canonical escapes of RFC 8785 section 3.2.2.2.
package enum JSONQuoting {
    private static let hex = Array("0123456789abcdef".utf8)

    /// Appends a text in quotes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append($0, to: &bytes) }
    }

    /// Appends a UTF-8 text in quotes.
    package static func append(_ utf8: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Runs without escapes are copied as a whole.
        var start = 0
        while let index = firstEscape(in: utf8, from: start) {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
            escape(utf8[index], to: &bytes)
            start = index + 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        bytes.append(UInt8(ascii: "\""))
    }

    private static func firstEscape(in utf8: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let raw = UnsafeRawBufferPointer(utf8)
        var place = start
        while place + 8 <= raw.count, !mayNeedEscape(raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)) {
            place += 8
        }
        while place < utf8.count {
            if needsEscape(utf8[place]) { return place }
            place += 1
        }
        return nil
    }

    /// Returns true if one of eight bytes needs an escape.
    ///
    /// It may report a byte above such a byte by mistake. The subtraction sets the highest bit of each lower byte, and
    /// of some above it (Henry S. Warren, Hacker's Delight, 2nd edition, section 6-1).
    private static func mayNeedEscape(_ eight: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = eight ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = eight ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (eight &- (ones &* 0x20)) & ~eight
        let zeros = ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
        return (controls | zeros) & (ones &* 0x80) != 0
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
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
