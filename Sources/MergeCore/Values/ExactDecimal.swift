/// An exact decimal number of any length, compared by value.
///
/// The text is in normal form: no leading zeros, no trailing zeros after the point, no `-0`. So equal texts are equal
/// values, and a `String` stores short numbers inline.
package struct ExactDecimal: Sendable, Hashable, CustomStringConvertible {
    /// The normal form, such as `-12.5`.
    package let text: String

    /// The maximum number of digits after an exponent is expanded, far beyond DECIMAL(65,38) and any double.
    package static let maximumDigits = 1_100

    /// A limit that the digits of no text can compensate.
    private static let farthestExponent = 1_000_000_000_000_000

    private init(normal: String) {
        text = normal
    }

    /// Converts an integer.
    package init(_ integer: Int128) {
        text = String(integer)
    }

    /// Reads the shortest decimal form of a double, or returns nil for infinities and NaN.
    package init?(shortest double: Double) {
        guard double.isFinite else { return nil }
        self.init(double.description)
    }

    /// Reads the shortest decimal form of a float, or returns nil for infinities and NaN.
    package init?(shortest float: Float) {
        guard float.isFinite else { return nil }
        self.init(float.description)
    }

    /// Reads `[+-]digits[.digits][e[+-]digits]`, or returns nil for any other text or too many digits.
    package init?(_ source: String) {
        var source = source
        if let length = source.withUTF8({ Self.normalLength($0) }) {
            self.init(normal: length == source.utf8.count ? source : String(source.utf8.prefix(length)) ?? source)
            return
        }
        var digits: [UInt8] = []
        var fraction = 0
        var seenPoint = false
        var seenDigit = false
        var negative = false
        var exponent = 0
        var bytes = source.utf8.makeIterator()
        var next = bytes.next()
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
            negative = next == UInt8(ascii: "-")
            next = bytes.next()
        }
        while let byte = next {
            if byte >= 48 && byte <= 57 {
                seenDigit = true
                if !(digits.isEmpty && byte == 48) { digits.append(byte) }
                if seenPoint { fraction += 1 }
            } else if byte == UInt8(ascii: "."), !seenPoint {
                seenPoint = true
            } else {
                break
            }
            next = bytes.next()
        }
        guard seenDigit else { return nil }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            guard let read = Self.exponent(&bytes) else { return nil }
            exponent = read
            next = nil
        }
        guard next == nil else { return nil }
        self.init(negative: negative, digits: digits, fraction: fraction - exponent)
    }

    /// Returns the length of the text's normal form, if only zeros after the point follow it.
    ///
    /// Databases spell decimals that way. Returns nil for other spellings and for texts over 64 bytes.
    private static func normalLength(_ source: UnsafeBufferPointer<UInt8>) -> Int? {
        guard source.count <= 64 else { return nil }
        let isNegative = source.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        var index = start
        while index < source.count, source[index] >= 48, source[index] <= 57 { index += 1 }
        let whole = index
        guard whole > start, source[start] != 48 || whole == start + 1 else { return nil }
        var length = whole
        if index < source.count {
            guard source[index] == UInt8(ascii: "."), index + 1 < source.count else { return nil }
            for place in (index + 1)..<source.count {
                guard source[place] >= 48, source[place] <= 57 else { return nil }
                if source[place] != 48 { length = place + 1 }
            }
        }
        // The normal form has no -0.
        return isNegative && length == whole && source[start] == 48 ? nil : length
    }

    private static func exponent(_ bytes: inout some IteratorProtocol<UInt8>) -> Int? {
        var next = bytes.next()
        var negative = false
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
            negative = next == UInt8(ascii: "-")
            next = bytes.next()
        }
        guard next != nil else { return nil }
        var value = 0
        while let byte = next {
            guard byte >= 48 && byte <= 57 else { return nil }
            value = min(value * 10 + Int(byte - 48), farthestExponent)
            next = bytes.next()
        }
        return negative ? -value : value
    }

    /// Creates the number `digits × 10^-fraction`, or returns nil if it needs more than `maximumDigits` digits.
    private init?(negative: Bool, digits source: [UInt8], fraction scale: Int) {
        var digits = source
        var fraction = scale
        if digits.isEmpty {
            self.init(normal: "0")
            return
        }
        while fraction > 0, digits.last == 48 {
            digits.removeLast()
            fraction -= 1
        }
        guard digits.count + abs(fraction) <= Self.maximumDigits else { return nil }
        if fraction < 0 {
            digits.append(contentsOf: repeatElement(48, count: -fraction))
            fraction = 0
        }
        if digits.count <= fraction {
            digits.insert(contentsOf: repeatElement(48, count: fraction - digits.count + 1), at: 0)
        }
        if fraction > 0 { digits.insert(UInt8(ascii: "."), at: digits.count - fraction) }
        if negative { digits.insert(UInt8(ascii: "-"), at: 0) }
        self.init(normal: String(decoding: digits, as: UTF8.self))
    }

    /// True below zero.
    package var isNegative: Bool { text.utf8.first == UInt8(ascii: "-") }

    /// The number of digits before the point; 0 for a number below one.
    package var integerDigits: Int {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        let count = digits.count - (isNegative ? 1 : 0)
        return count == 1 && digits.last == 48 ? 0 : count
    }

    /// The number of digits after the point.
    package var fractionDigits: Int {
        guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return 0 }
        return text.utf8.distance(from: point, to: text.utf8.endIndex) - 1
    }

    /// The number as an integer, or nil if it has a fraction or does not fit.
    package var integer: Int128? {
        fractionDigits == 0 ? Int128(text) : nil
    }

    /// Returns the text with exactly `scale` digits after the point; `scale` must be at least `fractionDigits`.
    package func text(scale: Int) -> String {
        let have = fractionDigits
        guard have < scale else { return text }
        return (have == 0 ? text + "." : text) + String(repeating: "0", count: scale - have)
    }

    package var description: String { text }
}
