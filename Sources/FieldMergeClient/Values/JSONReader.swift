import MergeCore

/// Reads JSON (RFC 8259) straight into values.
struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    /// The most levels of nesting that are read, which is what databases hold.
    private static let maximumDepth = 512

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Returns the value of the bytes; nil if they are no JSON.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        var reader = JSONReader(bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        return reader.index == bytes.count ? value : nil
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func word(_ word: StaticString, value: JSONValue) -> JSONValue? {
        guard index + word.utf8CodeUnitCount <= bytes.count else { return nil }
        for offset in 0..<word.utf8CodeUnitCount where bytes[index + offset] != word.utf8Start[offset] { return nil }
        index += word.utf8CodeUnitCount
        return value
    }

    private mutating func value(depth: Int) -> JSONValue? {
        guard depth < Self.maximumDepth else { return nil }
        skipSpace()
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "{"): return object(depth)
        case UInt8(ascii: "["): return array(depth)
        case UInt8(ascii: "\""): return string().map(JSONValue.string)
        case UInt8(ascii: "t"): return word("true", value: .bool(true))
        case UInt8(ascii: "f"): return word("false", value: .bool(false))
        case UInt8(ascii: "n"): return word("null", value: .null)
        default: return number()
        }
    }

    private mutating func object(_ depth: Int) -> JSONValue? {
        index += 1
        skipSpace()
        var members: JSONObject = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\""), let name = string() else { return nil }
            skipSpace()
            guard take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
            // A dictionary cannot hold two names that differ only in their Unicode form.
            if let other = members.index(forKey: name), !members[other].key.isExactly(name) { return nil }
            members[name] = value
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func array(_ depth: Int) -> JSONValue? {
        index += 1
        skipSpace()
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            guard let value = value(depth: depth + 1) else { return nil }
            elements.append(value)
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func digits() -> Int {
        let start = index
        while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 { index += 1 }
        return index - start
    }

    private mutating func number() -> JSONValue? {
        let start = index
        var isWhole = true
        _ = take(UInt8(ascii: "-"))
        let beginsWithZero = index < bytes.count && bytes[index] == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !beginsWithZero || count == 1 else { return nil }
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard digits() > 0 else { return nil }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            guard digits() > 0 else { return nil }
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self)
        if isWhole, count < 21, let whole = Int128(text), (Int128(Int64.min)...Int128(UInt64.max)).contains(whole) {
            return .integer(whole)
        }
        guard let number = Double(text), number.isFinite else { return nil }
        if number.magnitude <= 0x1p53, let whole = Int128(exactly: number) { return .integer(whole) }
        return .double(number)
    }

    private mutating func string() -> String? {
        index += 1
        let start = index
        // Most texts have no escape.
        while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\") { index += 1 }
        guard index < bytes.count else { return nil }
        let plain = UnsafeBufferPointer(rebasing: bytes[start..<index])
        if take(UInt8(ascii: "\"")) { return String(validating: plain, as: UTF8.self) }
        var out = Array(plain)
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: out, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                out.append(contentsOf: String(Character(escaped)).utf8)
            default: out.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard index < bytes.count else { return nil }
        let byte = bytes[index]
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
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = hexadecimal(),
            (0xDC00..<0xE000).contains(low)
        else { return nil }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    }

    private mutating func hexadecimal() -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var code: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[index + offset])).hexDigitValue else { return nil }
            code = code << 4 | UInt32(digit)
        }
        index += 4
        return code
    }
}
