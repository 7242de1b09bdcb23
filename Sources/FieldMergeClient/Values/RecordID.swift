public import Foundation

/// An id of a record or an item: a number, a text, or an array for a key of several columns.
public protocol RecordID: Sendable {
    /// The id in JSON.
    var jsonValue: JSONValue { get }
}

extension JSONValue: RecordID {
    /// The value itself.
    public var jsonValue: JSONValue { self }
}

extension Int: RecordID {
    /// The number.
    public var jsonValue: JSONValue { .integer(Int128(self)) }
}

extension Int64: RecordID {
    /// The number.
    public var jsonValue: JSONValue { .integer(Int128(self)) }
}

extension String: RecordID {
    /// The text.
    public var jsonValue: JSONValue { .string(self) }
}

extension UUID: RecordID {
    /// The text, in small letters as databases write it.
    public var jsonValue: JSONValue { .string(uuidString.lowercased()) }
}

extension Array: RecordID where Element: RecordID {
    /// The parts of a key of several columns.
    public var jsonValue: JSONValue { .array(map(\.jsonValue)) }
}

extension JSONValue {
    private static let temporaryPrefix = "tmp:"

    /// Returns a new temporary id: random, so that no two devices ever choose the same.
    package static func temporaryID() -> JSONValue { .string(temporaryPrefix + UUID().uuidString.lowercased()) }

    /// The text of an id of a row that was not created yet; nil for any other value.
    package var temporaryID: String? {
        if case .string(let text) = self, text.hasPrefix(Self.temporaryPrefix) { text } else { nil }
    }

    /// The id as text.
    package var key: IDText {
        if case .array(let parts) = self { IDText(parts: parts.map(\.keyPart)) } else { IDText(keyPart) }
    }

    private var keyPart: String {
        switch self {
        case .string(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .null: "None"
        default: text
        }
    }

    /// An id as part of an address.
    var addressPart: String {
        let parts = arrayValue ?? [self]
        return parts.map { $0.keyPart.percentEncoded }.joined(separator: ",")
    }

    /// Returns true if an id comes before another in the order of keys: numbers by value, then texts; rows that were
    /// not created yet come last, by their temporary ids.
    static func precedes(_ one: JSONValue, _ other: JSONValue) -> Bool {
        let (left, right) = (one.arrayValue ?? [one], other.arrayValue ?? [other])
        for (a, b) in zip(left, right) {
            let (first, second) = (a.rank, b.rank)
            if first != second { return first < second }
            if first == 0, let x = a.number, let y = b.number, x != y { return x < y }
            if first > 0, a.key != b.key {
                return a.keyPart.unicodeScalars.lexicographicallyPrecedes(b.keyPart.unicodeScalars)
            }
        }
        return left.count < right.count
    }

    private var rank: Int {
        if temporaryID != nil { return 2 }
        return number == nil ? 1 : 0
    }

    private var number: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .double(let number): number
        default: nil
        }
    }
}

extension String {
    /// The text with everything escaped that has a meaning in an address (RFC 3986 section 2.3).
    var percentEncoded: String {
        var out = ""
        for byte in utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                out += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return out
    }
}
