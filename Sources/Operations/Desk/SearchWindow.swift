/// The numbers of entries that one request searches, so that a rare match does not read the whole journal.
struct SearchWindow: Equatable {
    let range: ClosedRange<Int>
    /// The number after which the next window begins; nil in the last window.
    let next: Int?

    static let size = 100_000

    /// Returns nil if no number is left.
    ///
    /// - Parameters:
    ///   - numbers: those of the oldest and the newest entry.
    ///   - after: the number after which the window begins; nil for the first window.
    init?(of numbers: ClosedRange<Int>, after: Int?, isBackward: Bool, size: Int = Self.size) {
        if isBackward {
            guard after != .min else { return nil }
            let end = min(after.map { $0 - 1 } ?? .max, numbers.upperBound)
            guard end >= numbers.lowerBound else { return nil }
            let start = max(numbers.lowerBound, end - size + 1)
            range = start...end
            next = start > numbers.lowerBound ? start : nil
        } else {
            guard after != .max else { return nil }
            let start = max(after.map { $0 + 1 } ?? .min, numbers.lowerBound)
            guard start <= numbers.upperBound else { return nil }
            let end = min(numbers.upperBound, start + size - 1)
            range = start...end
            next = end < numbers.upperBound ? end : nil
        }
    }
}
