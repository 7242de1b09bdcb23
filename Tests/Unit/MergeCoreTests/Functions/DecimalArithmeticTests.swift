import MergeCore
import Testing
import TestSupport

/// Sums and order of decimals of any length.
@Suite struct DecimalArithmeticTests {
    static let sums: [(String, String, String, String)] = [
        ("0", "0", "0", "0"), ("1", "-1", "0", "2"), ("0.1", "0.2", "0.3", "-0.1"), ("99.99", "0.01", "100", "99.98"),
        ("-0.5", "0.25", "-0.25", "-0.75"), ("1000", "0.001", "1000.001", "999.999"),
        (
            "99999999999999999999999999999999999999", "1", "100000000000000000000000000000000000000",
            "99999999999999999999999999999999999998"
        ),
        ("1e300", "1", "1" + String(repeating: "0", count: 299) + "1", String(repeating: "9", count: 300)),
        ("-0.00000000000000000000000000000000000000001", "0.00000000000000000000000000000000000000001", "0", "-2e-41"),
    ]

    @Test(arguments: sums) func adds(_ a: String, _ b: String, _ sum: String, _ difference: String) throws {
        let x = try #require(ExactDecimal(a))
        let y = try #require(ExactDecimal(b))
        #expect(x + y == ExactDecimal(sum))
        #expect(x - y == ExactDecimal(difference))
    }

    private static func decimal(units: Int, scale: Int) -> ExactDecimal {
        ExactDecimal("\(units)e-\(scale)") ?? ExactDecimal(0)
    }

    private static func long(_ random: inout SeededRandom) -> ExactDecimal {
        let digits = (0..<Int.random(in: 1...120, using: &random)).map { _ in
            String(Int.random(in: 0...9, using: &random))
        }
        let sign = Bool.random(using: &random) ? "-" : ""
        return ExactDecimal("\(sign)\(digits.joined())e-\(Int.random(in: 0...130, using: &random))") ?? ExactDecimal(0)
    }

    @Test("Short sums equal those of integers", arguments: 0..<200)
    func shortSums(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let scale = Int.random(in: 0...9, using: &random)
            let a = Int.random(in: -999_999_999...999_999_999, using: &random)
            let b = Int.random(in: -999_999_999...999_999_999, using: &random)
            let x = Self.decimal(units: a, scale: scale)
            let y = Self.decimal(units: b, scale: scale)
            #expect(x + y == Self.decimal(units: a + b, scale: scale), "seed \(seed): \(x) + \(y)")
            #expect(x - y == Self.decimal(units: a - b, scale: scale), "seed \(seed): \(x) - \(y)")
            #expect((x < y) == (a < b), "seed \(seed): \(x) < \(y)")
        }
    }

    /// The oracle adds column by column, as on paper, to numbers made positive by a larger one.
    @Test("Long sums equal those of a digit-by-digit addition", arguments: 0..<200)
    func longSums(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let x = Self.long(&random)
            let y = Self.long(&random)
            #expect(x + y == y + x, "seed \(seed): \(x), \(y)")
            #expect((x + y) - y == x, "seed \(seed): \(x), \(y)")
            #expect((x - y) + y == x, "seed \(seed): \(x), \(y)")
            #expect((x < y) == (x - y).isNegative, "seed \(seed): \(x), \(y)")
            #expect(ExactDecimal((x + y).text) == x + y, "seed \(seed): \(x), \(y) is in the normal form")
            if !x.isNegative, !y.isNegative { #expect((x + y).text == Self.onPaper(x, y), "seed \(seed): \(x), \(y)") }
        }
    }

    private static func onPaper(_ a: ExactDecimal, _ b: ExactDecimal) -> String {
        let scale = max(a.fractionDigits, b.fractionDigits, 1)
        var rows = [a, b].map { number in
            let text = number.text + (number.fractionDigits == 0 ? "." : "")
            return Array(text) + Array(repeating: "0", count: scale - number.fractionDigits)
        }
        let width = max(rows[0].count, rows[1].count) + 1
        rows = rows.map { Array(repeating: "0", count: width - $0.count) + $0 }
        var carry = 0
        var out: [Character] = []
        for column in (0..<width).reversed() {
            guard let x = rows[0][column].wholeNumberValue, let y = rows[1][column].wholeNumberValue else {
                out.append(".")
                continue
            }
            carry += x + y
            out.append(Character(String(carry % 10)))
            carry /= 10
        }
        while out.first == "0" { out.removeFirst() }
        if out.first == "." { out.removeFirst() }
        while out.count > 1, out.last == "0", out[out.count - 2] != "." { out.removeLast() }
        return String(out.reversed())
    }
}
