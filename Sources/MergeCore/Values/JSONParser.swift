/// Reads the JSON of a column (RFC 8259).
package struct JSONParser {
    private let bytes: [UInt8]
    private var index = 0
    /// The maximum depth, which is the limit of databases.
    package static let maximumDepth = 512

    /// Returns the value, or nil if the text is not JSON, is too deep or contains a number beyond a double.
    package static func parse(_ text: String) -> JSONTree? {
        var parser = JSONParser(bytes: Array(text.utf8))
        guard let tree = parser.value(depth: 0) else { return nil }
        parser.skipSpace()
        return parser.index == parser.bytes.count ? tree : nil
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 32 || (byte >= 9 && byte <= 13 && byte != 11 && byte != 12) { index += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard current == character.asciiValue else { return false }
        index += 1
        return true
    }

    private mutating func word(_ word: String, tree: JSONTree) -> JSONTree? {
        guard bytes[index...].starts(with: word.utf8) else { return nil }
        index += word.utf8.count
        return tree
    }

    private mutating func value(depth: Int) -> JSONTree? {
        guard depth < Self.maximumDepth else { return nil }
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return object(depth)
        case UInt8(ascii: "["): return array(depth)
        case UInt8(ascii: "\""): return string().map { .text(ExactText($0)) }
        case UInt8(ascii: "t"): return word("true", tree: .boolean(true))
        case UInt8(ascii: "f"): return word("false", tree: .boolean(false))
        case UInt8(ascii: "n"): return word("null", tree: .null)
        default: return number()
        }
    }

    private mutating func object(_ depth: Int) -> JSONTree? {
        index += 1
        skipSpace()
        var members: [JSONMember] = []
        if take("}") { return .object(JSONMembers(members)) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\""), let name = string() else { return nil }
            skipSpace()
            guard take(":"), let value = value(depth: depth + 1) else { return nil }
            members.append(JSONMember(name: ExactText(name), value: value))
            skipSpace()
            if take("}") { return .object(JSONMembers(members)) }
            guard take(",") else { return nil }
        }
    }

    private mutating func array(_ depth: Int) -> JSONTree? {
        index += 1
        skipSpace()
        var elements: [JSONTree] = []
        if take("]") { return .array(elements) }
        while true {
            guard let value = value(depth: depth + 1) else { return nil }
            elements.append(value)
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { return nil }
        }
    }

    private mutating func number() -> JSONTree? {
        let start = index
        while let byte = current, (byte >= 48 && byte <= 57) || [43, 45, 46, 69, 101].contains(byte) { index += 1 }
        return JSONNumber.scalar(bytes[start..<index]).flatMap { try? JSONTree($0) }
    }

    private mutating func string() -> String? {
        index += 1
        var out: [UInt8] = []
        while let byte = current {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: out, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                out += Array(String(Character(escaped)).utf8)
            default: out.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = current else { return nil }
        index += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let high = hexadecimal() else { return nil }
        guard (0xD800..<0xDC00).contains(high) else { return Unicode.Scalar(high) }
        guard take("\\"), take("u"), let low = hexadecimal(), (0xDC00..<0xE000).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    }

    private mutating func hexadecimal() -> UInt32? {
        guard index + 4 <= bytes.count, ![UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[index]),
            let code = UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { return nil }
        index += 4
        return code
    }
}
