import RecordStore

/// The stored form of DECIMAL: groups of nine digits in four bytes, with the highest bit of the first byte as sign.
///
/// Source: MariaDB, strings/decimal.c, decimal2bin.
enum PackedDecimal {
    private static let digitsInGroup = 9
    /// The bytes for 0 to 9 digits.
    private static let bytes = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]

    static func length(precision: Int, scale: Int) -> Int { length(precision - scale) + length(scale) }

    private static func length(_ digits: Int) -> Int { digits / digitsInGroup * 4 + bytes[digits % digitsInGroup] }

    /// Returns the number as text; nil if the bytes have another length.
    static func text(_ bytes: ArraySlice<UInt8>, precision: Int, scale: Int) -> String? {
        guard bytes.count == length(precision: precision, scale: scale), let first = bytes.first else { return nil }
        let isNegative = first & 0x80 == 0
        var plain = Array(bytes)
        plain[0] ^= 0x80
        if isNegative { plain = plain.map { ~$0 } }
        var rest = plain[...]
        let whole = precision - scale
        var digits = group(whole % digitsInGroup, rest: &rest)
        for _ in 0..<(whole / digitsInGroup) { digits += group(digitsInGroup, rest: &rest) }
        if digits.isEmpty { digits = "0" }
        if scale > 0 {
            digits += "."
            for _ in 0..<(scale / digitsInGroup) { digits += group(digitsInGroup, rest: &rest) }
            digits += group(scale % digitsInGroup, rest: &rest)
        }
        return isNegative ? "-" + digits : digits
    }

    private static func group(_ digits: Int, rest: inout ArraySlice<UInt8>) -> String {
        guard digits > 0 else { return "" }
        let number = String(rest.prefix(bytes[digits]).bigEndian)
        rest = rest.dropFirst(bytes[digits])
        return String(repeating: "0", count: max(0, digits - number.utf8.count)) + number
    }
}
