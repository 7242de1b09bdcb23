/// Exact sums and comparison at any length, even beyond `maximumDigits`.
extension ExactDecimal: Comparable {
    /// Returns the exact sum.
    package static func + (a: ExactDecimal, b: ExactDecimal) -> ExactDecimal { sum(a, b, isDifference: false) }

    /// Returns the exact difference.
    package static func - (a: ExactDecimal, b: ExactDecimal) -> ExactDecimal { sum(a, b, isDifference: true) }

    /// Compares by value.
    package static func < (a: ExactDecimal, b: ExactDecimal) -> Bool {
        guard a.isNegative == b.isNegative else { return a.isNegative }
        return a.isNegative ? b.isCloserToZero(than: a) : a.isCloserToZero(than: b)
    }

    /// Compares magnitudes by the normal form of the text.
    ///
    /// The longer integer part is greater. With equal lengths, the order of the digits is the order of the values.
    private func isCloserToZero(than other: ExactDecimal) -> Bool {
        let width = max(integerDigits, 1)
        let otherWidth = max(other.integerDigits, 1)
        return width == otherWidth ? text.utf8.lexicographicallyPrecedes(other.text.utf8) : width < otherWidth
    }

    private static func sum(_ a: ExactDecimal, _ b: ExactDecimal, isDifference: Bool) -> ExactDecimal {
        if let x = ScaledInteger(a), let y = ScaledInteger(b), let sum = x.adding(y, isDifference: isDifference) {
            return sum.decimal
        }
        var negated = DecimalDigits(b)
        if isDifference { negated.isNegative.toggle() }
        return DecimalDigits(a).adding(negated).decimal
    }

    /// Creates a number from ASCII digits, most significant first, the last `scale` of them after the point.
    fileprivate init(isNegative: Bool, ascii source: [UInt8], scale: Int) {
        var digits = source[...]
        var fraction = scale
        while fraction > 0, digits.last == 48 {
            digits.removeLast()
            fraction -= 1
        }
        while digits.count > fraction, digits.first == 48 { digits.removeFirst() }
        var out: [UInt8] = []
        out.reserveCapacity(digits.count + 3)
        if isNegative, !digits.isEmpty { out.append(UInt8(ascii: "-")) }
        let whole = digits.count - fraction
        if whole <= 0 { out.append(48) }
        out.append(contentsOf: digits.prefix(max(whole, 0)))
        if fraction > 0 {
            out.append(UInt8(ascii: "."))
            out.append(contentsOf: repeatElement(48, count: max(-whole, 0)))
            out.append(contentsOf: digits.dropFirst(max(whole, 0)))
        }
        text = String(decoding: out, as: UTF8.self)
    }
}

/// A decimal as `units × 10^-scale`, for common numbers, which need no arithmetic by digit.
private struct ScaledInteger {
    let units: Int128
    let scale: Int

    private static let powers: [Int128] = (0..<38).reduce(into: [1]) { powers, _ in
        powers.append((powers.last ?? 1) * 10)
    }

    init(units: Int128, scale: Int) {
        self.units = units
        self.scale = scale
    }

    init?(_ number: ExactDecimal) {
        // 38 digits are below 2^127. The length includes sign and point.
        guard number.text.utf8.count <= 38 else { return nil }
        // Sums use 64 bits while these are enough, because 128 bits cost several times as much.
        var low: UInt64 = 0
        var high: Int128 = 0
        var lowDigits = 0
        var fraction = -1
        for byte in number.text.utf8 {
            if byte >= 48 {
                if lowDigits == 18 {
                    high = high * Self.powers[lowDigits] + Int128(low)
                    low = 0
                    lowDigits = 0
                }
                low = low &* 10 &+ UInt64(byte &- 48)
                lowDigits += 1
                if fraction >= 0 { fraction += 1 }
            } else if byte == UInt8(ascii: ".") {
                fraction = 0
            }
        }
        let magnitude = high == 0 ? Int128(low) : high * Self.powers[lowDigits] + Int128(low)
        self.init(units: number.isNegative ? -magnitude : magnitude, scale: max(fraction, 0))
    }

    func adding(_ other: ScaledInteger, isDifference: Bool) -> ScaledInteger? {
        let common = max(scale, other.scale)
        guard let a = scaled(to: common), let b = other.scaled(to: common) else { return nil }
        let (sum, overflow) = isDifference ? a.subtractingReportingOverflow(b) : a.addingReportingOverflow(b)
        return overflow ? nil : ScaledInteger(units: sum, scale: common)
    }

    private func scaled(to wanted: Int) -> Int128? {
        if wanted == scale { return units }
        let (product, overflow) = units.multipliedReportingOverflow(by: Self.powers[wanted - scale])
        return overflow ? nil : product
    }

    var decimal: ExactDecimal {
        var ascii: [UInt8] = []
        ascii.reserveCapacity(40)
        var rest = units.magnitude
        while rest > UInt128(UInt64.max) {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
            var low = UInt64(remainder)
            for _ in 0..<18 {
                ascii.append(UInt8(truncatingIfNeeded: low % 10) + 48)
                low /= 10
            }
            rest = quotient
        }
        var low = UInt64(rest)
        while low > 0 {
            ascii.append(UInt8(truncatingIfNeeded: low % 10) + 48)
            low /= 10
        }
        while ascii.count < scale { ascii.append(48) }
        ascii.reverse()
        return ExactDecimal(isNegative: units < 0, ascii: ascii, scale: scale)
    }
}

/// A decimal as its digits, least significant first, for numbers of any length.
private struct DecimalDigits {
    var isNegative: Bool
    private var digits: [UInt8]
    private var scale: Int

    private init(isNegative: Bool, digits: [UInt8], scale: Int) {
        self.isNegative = isNegative
        self.digits = digits
        self.scale = scale
    }

    init(_ number: ExactDecimal) {
        isNegative = number.isNegative
        digits = number.text.utf8.reversed().compactMap { $0 >= 48 ? $0 - 48 : nil }
        scale = number.fractionDigits
    }

    func adding(_ other: DecimalDigits) -> DecimalDigits {
        let common = max(scale, other.scale)
        let a = aligned(scale: common)
        let b = other.aligned(scale: common)
        let width = max(a.count, b.count)
        let x = a + repeatElement(0, count: width - a.count)
        let y = b + repeatElement(0, count: width - b.count)
        if isNegative == other.isNegative {
            return DecimalDigits(isNegative: isNegative, digits: Self.sum(x, y), scale: common)
        }
        let isLess = x.reversed().lexicographicallyPrecedes(y.reversed())
        return DecimalDigits(
            isNegative: isLess ? other.isNegative : isNegative,
            digits: isLess ? Self.difference(y, b: x) : Self.difference(x, b: y), scale: common)
    }

    private func aligned(scale wanted: Int) -> [UInt8] { [UInt8](repeating: 0, count: wanted - scale) + digits }

    private static func sum(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(a.count + 1)
        var carry: UInt8 = 0
        for (x, y) in zip(a, b) {
            let total = x + y + carry
            carry = total > 9 ? 1 : 0
            out.append(total - carry * 10)
        }
        out.append(carry)
        return out
    }

    /// Subtracts `b`, which must not be greater than `a`.
    private static func difference(_ a: [UInt8], b: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(a.count)
        var borrow: UInt8 = 0
        for (x, y) in zip(a, b) {
            let taken = y + borrow
            borrow = x < taken ? 1 : 0
            out.append(x + borrow * 10 - taken)
        }
        return out
    }

    var decimal: ExactDecimal {
        ExactDecimal(isNegative: isNegative, ascii: digits.reversed().map { $0 + 48 }, scale: scale)
    }
}
