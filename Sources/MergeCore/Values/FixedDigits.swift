/// The digits of MariaDB's FLOAT(M,D) and DOUBLE(M,D), which round new values.
package struct FixedDigits: Sendable, Hashable {
    /// The total number of digits.
    package let precision: Int
    /// The number of digits after the point.
    package let scale: Int
    private let power: Double

    /// Creates the digits of a column such as `FLOAT(7,2)`.
    package init(precision: Int, scale: Int) {
        self.precision = precision
        self.scale = scale
        power = Double("1e\(scale)") ?? 1
    }

    /// Returns true if the column has enough digits and the server's rounding keeps the number.
    func hold(_ number: ExactDecimal, _ double: Double) -> Bool {
        number.fractionDigits <= scale && number.integerDigits <= precision - scale && read(rounded(double)) == double
    }

    func hold(_ number: ExactDecimal, _ float: Float) -> Bool {
        number.fractionDigits <= scale && number.integerDigits <= precision - scale
            && Float(rounded(Double(float))) == float
    }

    /// Rounds as the server does, which may return a neighbour of the nearest double.
    private func rounded(_ number: Double) -> Double {
        let whole = number.rounded(.down)
        return whole + ((number - whole) * power).rounded(.toNearestOrEven) / power
    }

    /// Returns the double that is nearest to the decimal of a stored number.
    package func read(_ stored: Double) -> Double {
        let shifted = stored * power
        // Above these limits, adjacent doubles are different decimals, or the power of ten is no exact double.
        guard shifted.magnitude < 0x1p53, scale <= 22 else { return stored }
        return shifted.rounded(.toNearestOrEven) / power
    }
}
