/// Conversions of external numbers, such as those of tokens and clocks, that never trap.
extension Int {
    /// Rounds towards zero and clamps to the range of `Int`; NaN becomes 0.
    package init(clamping number: Double) {
        self = Int(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}

extension Duration {
    /// A century, longer than any wait.
    private static let mostSeconds = 3_155_760_000.0

    /// Returns a duration of at most a century; NaN becomes zero.
    package static func clamped(seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, -mostSeconds), mostSeconds))
    }
}
