/// Base64 with the standard alphabet and padding (RFC 4648 section 4), strict in both directions.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, byte) in alphabet.enumerated() { table[Int(byte)] = UInt8(value) }
        return table
    }()

    /// Returns the base64 text as ASCII.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let word =
                UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[index + 2]) : 0)
            out.append(alphabet[Int(word >> 18)])
            out.append(alphabet[Int(word >> 12 & 63)])
            out.append(left > 1 ? alphabet[Int(word >> 6 & 63)] : UInt8(ascii: "="))
            out.append(left > 2 ? alphabet[Int(word & 63)] : UInt8(ascii: "="))
            index += 3
        }
        return out
    }

    /// Returns the bytes, or nil if the text is not base64, lacks padding or has unused bits set.
    package static func decode(_ text: String) -> [UInt8]? {
        var source = Array(text.utf8)
        guard source.count % 4 == 0 else { return nil }
        var padding = 0
        while padding < 2, source.last == UInt8(ascii: "=") {
            source.removeLast()
            padding += 1
        }
        var out: [UInt8] = []
        out.reserveCapacity(source.count * 3 / 4)
        var word: UInt32 = 0
        var bits = 0
        for byte in source {
            let value = values[Int(byte)]
            guard value != 0xFF else { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
                word &= (1 << UInt32(bits)) - 1
            }
        }
        return word == 0 ? out : nil
    }
}
