/// A number with more digits than `ExactDecimal` allows: very small, very large or very long.
///
/// No numeric column can store it exactly. A JSON column stores the nearest double.
package struct VastNumber: Sendable, Hashable {
    /// The sign, the digits without trailing zeros, and the power of ten, so that equal texts are equal values.
    package let text: String

    /// The limit of the power of ten, which the digits of no body can compensate.
    private static let farthestPower = 1_000_000_000_000_000

    /// Reads a JSON number that is not zero.
    init(_ source: String) {
        let mark = source.utf8.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        var power = 0
        if let mark {
            let sent = source[source.utf8.index(after: mark)...]
            let limit = sent.hasPrefix("-") ? -Self.farthestPower : Self.farthestPower
            power = Int(sent).map { $0.magnitude > limit.magnitude ? limit : $0 } ?? limit
        }
        var digits: [UInt8] = []
        var isFraction = false
        for byte in source.utf8[..<(mark ?? source.utf8.endIndex)] {
            if byte == UInt8(ascii: ".") { isFraction = true }
            guard byte >= UInt8(ascii: "0") else { continue }
            if isFraction { power -= 1 }
            if !(digits.isEmpty && byte == UInt8(ascii: "0")) { digits.append(byte) }
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            power += 1
        }
        text = (source.hasPrefix("-") ? "-" : "") + String(decoding: digits, as: UTF8.self) + "e\(power)"
    }

    var double: Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }
}
