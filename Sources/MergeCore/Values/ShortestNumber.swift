/// Writes floating-point numbers as ECMAScript does, which is canonical in RFC 8785 section 3.2.2.3.
package enum ShortestNumber {
    /// Returns the shortest text that reads back as the same double.
    package static func text(_ number: Double) -> String { text(description: number.description) }

    /// Returns the shortest text that reads back as the same float.
    package static func text(_ number: Float) -> String { text(description: number.description) }

    /// Converts Swift's own shortest form, such as `1.5e-07`.
    private static func text(description: String) -> String {
        var digits: [UInt8] = []
        var pointAfter = 0
        var seenPoint = false
        var exponent = 0
        var isNegative = false
        var bytes = description.utf8[...]
        if bytes.first == UInt8(ascii: "-") {
            isNegative = true
            bytes = bytes.dropFirst()
        }
        if let mark = bytes.firstIndex(of: UInt8(ascii: "e")) {
            let text = String(bytes[bytes.index(after: mark)...]) ?? "0"
            exponent = Int(text.hasPrefix("+") ? String(text.dropFirst()) : text) ?? 0
            bytes = bytes[..<mark]
        }
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                seenPoint = true
            } else {
                digits.append(byte)
                if !seenPoint { pointAfter += 1 }
            }
        }
        while digits.count > 1, digits.last == 48 { digits.removeLast() }
        while digits.count > 1, digits.first == 48 {
            digits.removeFirst()
            pointAfter -= 1
        }
        if digits == [48] { return "0" }
        return (isNegative ? "-" : "") + layout(digits, n: pointAfter + exponent)
    }

    /// Writes `digits` with the point after the first `n` of them (ECMA-262 Number::toString).
    private static func layout(_ digits: [UInt8], n: Int) -> String {
        let text = String(decoding: digits, as: UTF8.self)
        let k = digits.count
        if k <= n, n <= 21 { return text + String(repeating: "0", count: n - k) }
        if 0 < n, n <= 21 {
            return String(decoding: digits[..<n], as: UTF8.self) + "." + String(decoding: digits[n...], as: UTF8.self)
        }
        if -6 < n, n <= 0 { return "0." + String(repeating: "0", count: -n) + text }
        let power = (n - 1 < 0 ? "e-" : "e+") + String(abs(n - 1))
        if k == 1 { return text + power }
        return text.prefix(1) + "." + text.dropFirst() + power
    }
}
