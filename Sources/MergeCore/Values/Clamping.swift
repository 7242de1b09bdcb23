/// Conversions of numbers that come from outside, such as those of tokens and clocks. They never trap.
extension Int {
    /// Converts a number to the nearest integer towards zero that an `Int` can hold; NaN becomes 0.
    package init(clamping number: Double) {
        self = Int(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}

extension Duration {
    /// More seconds than any wait lasts: a century.
    private static let mostSeconds = 3_155_760_000.0

    /// Returns a duration of a century at most; NaN becomes zero.
    package static func clamped(seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, -mostSeconds), mostSeconds))
    }
}
