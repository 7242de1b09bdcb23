import MergeCore

/// Guesses the type of a column of numbers from samples.
enum SampledNumber {
    /// The maximum number of digits of a DECIMAL, in total and after the point.
    private static let precision = 65
    private static let maximumScale = 38

    /// Returns true for a JSON number, or a text with a number.
    static func isNumber(_ sample: Scalar) -> Bool { number(sample) != nil }

    /// Returns an integer type if all samples are integers on the wire, else a decimal type.
    ///
    /// A text of digits is a DECIMAL without decimals. Only beyond 2^53 it is an integer.
    static func type(_ samples: [Scalar]) -> ColumnType {
        samples.allSatisfy(isInteger) ? integer(samples) : decimal(samples)
    }

    /// Returns signed 64 bits, or unsigned 64 bits if a sample needs them.
    static func integer(_ samples: [Scalar]) -> ColumnType {
        let largest = samples.compactMap { number($0)?.integer }.max() ?? 0
        return .integer(
            largest > Int128(Int64.max) ? 0...Int128(UInt64.max) : Int128(Int64.min)...Int128(Int64.max))
    }

    /// Returns a DECIMAL with the most decimals of any sample, or a DOUBLE if the digits do not fit.
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

    /// Returns the number of decimals as written: `"12.50"` has two, but a JSON number loses its trailing zeros.
    private static func decimals(_ sample: Scalar) -> Int {
        guard case .text(let text) = sample, let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else {
            return number(sample)?.fractionDigits ?? 0
        }
        let written = text.utf8[point...].dropFirst().prefix { $0 >= 48 && $0 <= 57 }.count
        return max(written, number(sample)?.fractionDigits ?? 0)
    }
}
