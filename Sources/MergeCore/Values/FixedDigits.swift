/// The digits that FLOAT(M,D) and DOUBLE(M,D) of MariaDB keep: such a column rounds what is written into it.
package struct FixedDigits: Sendable, Hashable {
    /// Digits in all.
    package let precision: Int
    /// Digits behind the point.
    package let scale: Int
    private let power: Double

    /// Makes digits of a column such as `FLOAT(7,2)`: all of them, and those behind the point.
    package init(precision: Int, scale: Int) {
        self.precision = precision
        self.scale = scale
        power = Double("1e\(scale)") ?? 1
    }

    /// Returns true where a number has no more digits than the column, and the server's rounding leaves it what it is.
    func hold(_ number: ExactDecimal, _ double: Double) -> Bool {
        number.fractionDigits <= scale && number.integerDigits <= precision - scale && read(rounded(double)) == double
    }

    /// The same for a FLOAT.
    func hold(_ number: ExactDecimal, _ float: Float) -> Bool {
        number.fractionDigits <= scale && number.integerDigits <= precision - scale
            && Float(rounded(Double(float))) == float
    }

    /// The number as the server rounds it, which may end up a double beside the nearest.
    private func rounded(_ number: Double) -> Double {
        let whole = number.rounded(.down)
        return whole + ((number - whole) * power).rounded(.toNearestOrEven) / power
    }

    /// The double nearest to the decimal that a stored number stands for.
    package func read(_ stored: Double) -> Double {
        let shifted = stored * power
        // Beyond, neighbouring doubles stand for different decimals or a power of ten is no double.
        guard shifted.magnitude < 0x1p53, scale <= 22 else { return stored }
        return shifted.rounded(.toNearestOrEven) / power
    }
}
