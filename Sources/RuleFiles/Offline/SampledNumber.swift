import MergeCore

/// The type of a column of numbers, by samples of it.
enum SampledNumber {
    /// The most digits of a DECIMAL, in all and after the point.
    private static let precision = 65
    private static let maximumScale = 38

    /// A JSON number, or a text that is one.
    static func isNumber(_ sample: Scalar) -> Bool { number(sample) != nil }

    /// Integers as they travel on the wire make an integer column; texts of digits stand for a DECIMAL without
    /// decimals, unless they are long, as only integers beyond 2^53 travel as texts.
    static func type(_ samples: [Scalar]) -> ColumnType {
        samples.allSatisfy(isInteger) ? integer(samples) : decimal(samples)
    }

    /// Signed 64 bits, or unsigned ones where a sample needs them.
    static func integer(_ samples: [Scalar]) -> ColumnType {
        let largest = samples.compactMap { number($0)?.integer }.max() ?? 0
        return .integer(
            largest > Int128(Int64.max) ? 0...Int128(UInt64.max) : Int128(Int64.min)...Int128(Int64.max))
    }

    /// With as many decimals as the longest sample spells.
    static func decimal(_ samples: [Scalar]) -> ColumnType {
        let scale = min(samples.map(decimals).max() ?? 0, maximumScale)
        let fits = samples.compactMap(number).allSatisfy { number in
            number.fractionDigits <= scale && number.integerDigits <= precision - scale
        }
        return fits
            ? .decimal(precision: precision, scale: scale, isUnsigned: false) : .double(isUnsigned: false)
    }

    private static func isInteger(_ sample: Scalar) -> Bool {
        switch sample {
        case .integer: true
        case .number(let number): number.integer != nil
        case .text: (number(sample)?.integer?.magnitude ?? 0) > 1 << 53
        default: false
        }
    }

    private static func number(_ sample: Scalar) -> ExactDecimal? {
        switch sample {
        case .integer(let number): ExactDecimal(Int128(number))
        case .number(let number): number
        case .text(let text): ExactDecimal(text)
        default: nil
        }
    }

    /// Digits after the point as they were written, `"12.50"` having two; a JSON number does not keep its last zeros.
    private static func decimals(_ sample: Scalar) -> Int {
        guard case .text(let text) = sample, let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else {
            return number(sample)?.fractionDigits ?? 0
        }
        let written = text.utf8[point...].dropFirst().prefix { $0 >= 48 && $0 <= 57 }.count
        return max(written, number(sample)?.fractionDigits ?? 0)
    }
}
